"""Measurements, as ratios within one run (`make bench`); never asserted by a timed test.

__main__   starts everything, drives the load client of ../shared and prints its tables
adapter    the app as its page uses it, for the load client
relay      a bare Daphne + httpx relay, the floor of the stack
seed       users, threads and rows for the measurements
finding    how long people wait for a search
read_path  what the read path adds to a run in a large database
start_by_meaning  what search by meaning adds to the start of a run
near       what cosines with all of an owner's vectors cost, held in memory and not
"""
