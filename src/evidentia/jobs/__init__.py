"""Work that takes longer than a request, or must not be done in the process that answers.

`work` says what each kind of job does, part by part; `runner` has jobs done, on DBOS Transact. The
row of a job (`store.sql.jobs`) says what was asked for and how far it is, and is what others see.
DBOS queues jobs, remembers which parts are behind one, and lets another server go on with it.

- A part that was begun and not ended is done again. What it recorded before is noted in the
  transaction that recorded it, so that it is not recorded twice.
- A job is of one runner at a time. Whatever it records is refused once another one has it.
- A runner says every few seconds that it lives. The jobs of one that does not are taken over.
- A job acts as the user who asked for it. What they may no longer do, it does not do either.
"""
