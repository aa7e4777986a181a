"""What a trained model does, measured without training it further.

Every measurement goes by what a model is able to do (``states``, ``write``, ``fill``; two stacks make an
encoder-decoder), never by an architecture's name; works in evaluation mode, without gradients, and leaves the model as
it was; and gives the same numbers for the same seed.
"""
