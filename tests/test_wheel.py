"""The wheel carries the configurations: an installed package needs no checkout."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_configuration_is_in_the_wheel_and_composes_from_there(tmp_path):
    build = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    made = subprocess.run(
        [sys.executable, "-c", build, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert made.returncode == 0, made.stderr
    with zipfile.ZipFile(tmp_path / made.stdout.split()[-1]) as wheel:
        shipped = {
            name.removeprefix("zoo/conf/") for name in wheel.namelist() if name.startswith("zoo/conf/")
        }
        wheel.extractall(tmp_path / "site")
    assert shipped == {str(path.relative_to(ROOT / "conf")) for path in (ROOT / "conf").rglob("*.yaml")}
    check = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); from zoo import config\n"
        "assert 'site' in str(config.folder()), config.folder()\n"
        "assert config.load('arch=t5')['objective']['name'] == 'span_corruption'"
    )
    found = subprocess.run(
        [sys.executable, "-c", check], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert found.returncode == 0, found.stderr
