"""A memory backend outside this program, as a layer (seed 002; DESIGN §5, Backends).

chosen      which backend is in force
start       looks at it as a process starts, and lets go of it at the end
watermarks  how far each conversation is there, in the database
figures     counters of all processes for /metrics
ask         what is asked beside the hop that starts a run
tell        the segment of the prompt
deliver     what was said goes there
follow      what became of its tasks there
forgetting  what is to be gone there
waiting     what is asked to be forgotten and is not gone yet
lost        finds what of all this no worker would come to any more
permission  whether a teacher's text may go there
"""
