"""Being drawn."""

import streamlit as st

st.title("tasks")
