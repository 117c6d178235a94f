"""MLSVM: metric learning, a support vector approach (Nguyen, Guo 2008).

problem.py       What is the problem? The literal statement (2), and its compact dual, in cvxpy.
neighborhood.py  Which inputs are allowed, and who is in N(i)? Checked data; targets and impostors of each point.
algorithm1.py    What does the paper compute? The objective by loops, the intermediates, and Algorithm 1.
solver.py        How is it solved? The compact dual in floats, by gradient and Newton steps.
interior.py      How is it solved if features differ much in scale? An interior-point method, which solver.py calls.
misreadings.py   Which mistakes are recognised? misreadings_problem.py has the duals of four of them, in cvxpy.
method.py        How does the package call all this? The class MLSVM. cvxml/family proves its lower bounds.
"""
