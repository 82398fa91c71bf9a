pragma application_id = 0x51425301;

-- The bytes, in the order in which they came. Everything else in this file can
-- be made from them.
create table data (
  id integer primary key,
  form integer not null,  -- 0: as they are, 1: a zstd frame
  bytes integer not null, -- of the body
  data blob not null
) strict;

create table body (
  hash blob primary key, -- SHA-256
  id integer not null,   -- in data
  bytes integer not null,
  stored integer not null
) strict, without rowid;
