create table if not exists tickets (
  n                 integer primary key,
  id                text not null unique,
  subject           text not null,
  description       text not null,
  status            text not null check (status in ('open', 'in_progress', 'pending', 'resolved', 'closed')),
  priority          text not null check (priority in ('low', 'medium', 'high', 'critical')),
  customer_id       text not null,
  customer_name     text not null,
  customer_email    text not null,
  assigned_to       text,
  category          text not null,
  tags              text not null check (json_valid(tags)),
  created_at        integer not null, -- Unix milliseconds, here and below
  updated_at        integer not null,
  resolved_at       integer,
  resolution        text not null default '',
  resolution_type   text,
  customer_notified integer,
  closed_by         text,
  closed_at         integer,
  version           integer not null default 1
) strict;

create index if not exists tickets_newest on tickets (created_at, id);

create table if not exists articles (
  n          integer primary key,
  id         text not null unique,
  title      text not null,
  summary    text not null,
  content    text not null,
  category   text not null,
  tags       text not null check (json_valid(tags)),
  author     text not null,
  status     text not null check (status in ('draft', 'published', 'archived')),
  views      integer not null check (views >= 0),
  votes      integer not null check (votes >= 0),
  created_at integer not null,
  updated_at integer not null
) strict;

create index if not exists articles_newest on articles (created_at, id);

-- The words of the rows, split and folded before they are inserted: the tokenizer
-- only splits at spaces. Their rowid is the row's n.
create virtual table if not exists tickets_words using fts5 (head, body, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '2 3');
create virtual table if not exists articles_words using fts5 (head, body, content = '', contentless_delete = 1, tokenize = 'ascii', prefix = '2 3');
