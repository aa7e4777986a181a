"""Train one architecture, or sweep over several: `python train.py arch=gpt`, `python train.py -m arch=gpt,bert,t5`."""

from zoo.cli import main

if __name__ == "__main__":
    main()
