pragma application_id = 0x51504c01;

create table session (
  number integer primary key,
  ulid text not null,
  owner text not null,
  project text not null,
  id text not null,
  agent text not null,
  version text not null,
  branch text not null,
  model text not null,
  window integer not null,
  parent text not null,
  started integer, -- seconds since 1970, null when it is not known
  started_nanos integer not null,
  source text not null,
  pages integer not null,
  calls integer not null,
  tokens integer not null,
  bytes integer not null,
  input integer not null,
  cache_read integer not null,
  cache_write integer not null,
  cache_write_1h integer not null,
  output integer not null,
  reasoning integer not null,
  known integer not null,
  updated text not null
) strict;

create table page (
  id integer primary key, -- session * 2^32 + page
  owner text not null,
  acl blob not null,      -- lists are written as list.go says
  scope text not null,
  kind integer not null,
  class integer not null,
  target_key integer not null, -- of the target, for its index
  target text not null,
  ulid text not null,
  at integer, -- seconds since 1970, null when it is not known
  at_nanos integer not null,
  tool text not null,
  action text not null,
  first_line integer not null,
  last_line integer not null,
  body blob not null, -- hashes that are zero are empty
  bytes integer not null,
  tokens integer not null,
  call integer not null,
  args blob not null,
  version blob not null,
  tasks blob not null,
  last_ref integer not null,
  refs integer not null,
  heat real not null,
  pin_by text not null,
  pin_until integer not null,
  supersedes blob not null,
  superseded_by integer not null,
  derived_from blob not null,
  answers integer not null,
  stale blob not null,
  outcome text not null
) strict;

create index page_target on page (target_key) where target_key <> 0;

create table head (
  name text primary key,
  value text not null
) strict, without rowid;

create table segment (
  id integer primary key,
  name text not null,
  bytes integer -- null while it is being written
) strict;

create index segment_name on segment (name);

create table chunk (
  id integer primary key, -- segment * 2^24 + position
  data blob not null
) strict;
