"""What other tools cost for the work that Cuesta does, on the same host with the same bytes (docs/peers.md).

job             what a tool is asked to do, what it tells, and what a tool is to this program
tools/          one file per tool
programs/       what the tools play: tapes, a session of Tsung, users of Locust, scripts of expect and bash
hosts/          the hosts at which they are played: the built-in host, OpenSSH's sshd
control_group   the processes of a program: their CPU time and memory, stopping them, ending them
measure         one tool at one host: what it costs, and what it tells of a host that stops
stall           what a host's stop does to the percentiles of responses
comparisons     which tools are played at what
rows            plays a comparison and makes its table
table           rows, columns and units as text
"""
