"""What the research pages of the documentation are made from: programs in a checkout.

python -m evidence.compare           every learner in every scenario
python -m evidence.rates             the rate of every learner
python -m evidence.paper_constants   the tables with the paper's own constants
python -m evidence.known_curvature   what a wrong curvature costs
"""
