import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface Note {
  readonly id: number
  readonly text: string
  /** ISO 8601. */
  readonly created_at: string
}

export interface Notes {
  of(userId: string): readonly Note[]
  add(userId: string, text: string): Note
  /** False where the user has no such note. */
  delete(userId: string, id: number): boolean
  close(): void
}

/** The application's own data, in a database of its own. */
export const openNotes = (folder: string | undefined): Notes => {
  const db = new DatabaseSync(folder === undefined ? ':memory:' : join(folder, 'notes.sqlite'), {
    timeout: 2_000,
  })
  db.exec(`
    pragma journal_mode = wal;
    create table if not exists note (
      id integer primary key autoincrement, user_id text not null, text text not null, created_at text not null
    );
    create index if not exists note_user on note (user_id);
  `)
  const select = db.prepare(
    'select id, text, created_at from note where user_id = ? order by id limit 1000',
  )
  const insert = db.prepare(
    'insert into note (user_id, text, created_at) values (?, ?, ?) returning id, text, created_at',
  )
  const remove = db.prepare('delete from note where id = ? and user_id = ?')
  return {
    of: (userId) => select.all(userId) as unknown as Note[],
    add: (userId, text) => insert.get(userId, text, new Date().toISOString()) as unknown as Note,
    delete: (userId, id) => Number.isSafeInteger(id) && remove.run(id, userId).changes > 0,
    close: () => db.close(),
  }
}
