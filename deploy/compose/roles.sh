#!/bin/sh
# Makes the database and those who log in to it, each with the password in its file: Evidentia's owner
# (who has the tables), application (the servers) and auditor (who reads all, and writes nothing), and
# OpenFGA's role. 'evidentia db roles' gives them their rights. It runs by itself when the database is
# made, and may be run again: passwords are then what the files say.
set -eu
export SECRETS="${SECRETS:-/run/secrets}"
psql --no-psqlrc --quiet --set ON_ERROR_STOP=1 --username "${POSTGRES_USER:-postgres}" --dbname postgres << 'SQL'
\set owner `cat "$SECRETS/database-owner"`
\set app `cat "$SECRETS/database-app"`
\set auditor `cat "$SECRETS/database-auditor"`
\set openfga `cat "$SECRETS/database-openfga"`

SELECT format('CREATE ROLE %I', name)
  FROM unnest(ARRAY['evidentia_owner', 'evidentia_app', 'evidentia_sequencer', 'evidentia_auditor',
    'openfga']) AS name
  WHERE to_regrole(name) IS NULL
\gexec
ALTER ROLE evidentia_owner LOGIN PASSWORD :'owner';
ALTER ROLE evidentia_app LOGIN PASSWORD :'app';
ALTER ROLE evidentia_auditor LOGIN PASSWORD :'auditor';
ALTER ROLE openfga LOGIN PASSWORD :'openfga';
-- the owner lets the application become the sequencer: so it needs no right to make roles
GRANT evidentia_sequencer TO evidentia_owner WITH ADMIN TRUE, INHERIT FALSE, SET FALSE;

SELECT format('CREATE DATABASE %I OWNER %I', name, owner)
  FROM (VALUES ('evidentia', 'evidentia_owner'), ('openfga', 'openfga')) AS made (name, owner)
  WHERE name NOT IN (SELECT datname FROM pg_database)
\gexec
REVOKE ALL ON DATABASE evidentia, openfga FROM PUBLIC;
GRANT CONNECT ON DATABASE evidentia TO evidentia_app, evidentia_auditor;
SQL
