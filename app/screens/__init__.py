"""The screens of the dashboard, one thin file each: no SQL, no arithmetic, no parsing."""
