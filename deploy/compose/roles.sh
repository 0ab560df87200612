#!/bin/sh
# Runs once, when the database is made: a role that owns Evidentia's tables, one that its servers
# use, and OpenFGA's. psql quotes the passwords itself.
set -eu
secrets=${SECRETS:-/run/secrets}
psql --set ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres \
  --set owner="$(cat $secrets/database-owner)" \
  --set app="$(cat $secrets/database-app)" \
  --set openfga="$(cat $secrets/database-openfga)" << 'SQL'
CREATE ROLE evidentia_owner LOGIN PASSWORD :'owner';
CREATE ROLE evidentia_app LOGIN PASSWORD :'app';
CREATE DATABASE evidentia OWNER evidentia_owner;
CREATE ROLE openfga LOGIN PASSWORD :'openfga';
CREATE DATABASE openfga OWNER openfga;
SQL
