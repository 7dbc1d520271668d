"""Pictures: figures by matplotlib, which is imported when something is drawn, and tables."""
