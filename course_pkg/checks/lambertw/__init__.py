"""What another chapter's verdicts share with this one, until they are records: its own lie beside their sheets."""
