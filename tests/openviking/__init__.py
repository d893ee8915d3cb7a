"""What holds at the loopback server and at a real OpenViking alike. `make test-openviking` asks the real one.

https      a proxy with HTTPS in front of a server
cluster    several processes of each kind beside a server, and who talks there; cluster_world is what they have in the database
shape      what an answer is made of
real       the real server, as a process that can be killed; its models are the stand-ins of SHARED_DIR
"""
