alter table page add column dropped_by text not null default '';

-- Seals are those of seal.go, -1 in rows that were written before there were any.
alter table page add column seal integer not null default -1;
alter table session add column seal integer not null default -1;
alter table head add column seal integer not null default -1;
alter table segment add column seal integer not null default -1;
alter table chunk add column seal integer not null default -1;

-- Rows of before hold paths that are masked now: all sessions are derived again.
update head set value = '0' where name like 'ingest/%';
