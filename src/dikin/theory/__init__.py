"""The statements of Luo, Zhang and Zhao (COLT 2022) as functions, in the paper's units."""
