import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface Note {
  readonly id: number
  readonly text: string
  /** ISO 8601. */
  readonly created_at: string
}

/** A note with its owner, for access control. */
export interface StoredNote extends Note {
  readonly owner: string
}

export interface Notes {
  of(owner: string): readonly Note[]
  find(id: number): StoredNote | undefined
  add(note: Pick<StoredNote, 'owner' | 'text'>): Note
  delete(id: number): void
  close(): void
}

const maxLength = 2_000

/** Returns the problem of the text of a new note; undefined if the text is valid. */
export const noteProblem = (text: unknown): string | undefined =>
  typeof text === 'string' && text.trim() !== '' && text.length <= maxLength
    ? undefined
    : `text must be a string of 1 to ${maxLength} characters.`

/**
 * Opens the database of the notes, which is separate from the database of the authorization server.
 * @param folder the directory of the database; undefined for a database in memory
 * @param clock returns milliseconds since the epoch
 */
export const openNotes = (folder: string | undefined, clock: () => number = Date.now): Notes => {
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
  const find = db.prepare('select id, text, created_at, user_id as owner from note where id = ?')
  const insert = db.prepare(
    'insert into note (user_id, text, created_at) values (?, ?, ?) returning id, text, created_at',
  )
  const remove = db.prepare('delete from note where id = ?')
  return {
    of: (owner) => select.all(owner) as unknown as Note[],
    find: (id) =>
      Number.isSafeInteger(id) ? (find.get(id) as unknown as StoredNote | undefined) : undefined,
    add: ({ owner, text }) =>
      insert.get(owner, text, new Date(clock()).toISOString()) as unknown as Note,
    delete: (id) => void remove.run(id),
    close: () => db.close(),
  }
}
