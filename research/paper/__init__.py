"""The paper's experiments: from settings to runs, to a record of rows, to tables and figures."""
