"""MMC: distance metric learning with application to clustering with side-information.

method.py is the contract; problem.py the literal statement and its dual; certify.py the proof; fast.py the solver
(diagonal.py where A is diagonal); evaluate.py what an implementer compares; variants.py the misreadings.
"""
