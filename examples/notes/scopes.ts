import { Scope } from 'svc-oauth2server'

// `entryPoints` in package.json lists these scopes too, so that `npx svc-oauth2server` finds them.

/** A scope with translations into the languages of the pages. */
export const notesRead: Scope = new Scope('notes:read', {
  helpText: 'Read your notes',
  group: 'Notes',
  translations: {
    ar: { helpText: 'قراءة ملاحظاتك', group: 'الملاحظات' },
    de: { helpText: 'Deine Notizen lesen', group: 'Notizen' },
    es: { helpText: 'Leer tus notas', group: 'Notas' },
    fr: { helpText: 'Lire vos notes', group: 'Notes' },
    it: { helpText: 'Leggere le tue note', group: 'Note' },
    ja: { helpText: 'ノートの読み取り', group: 'ノート' },
    pl: { helpText: 'Odczyt Twoich notatek', group: 'Notatki' },
    pt: { helpText: 'Ler suas notas', group: 'Notas' },
    zh: { helpText: '读取你的笔记', group: '笔记' },
  },
})

export const notesWrite: Scope = new Scope('notes:write', {
  helpText: 'Write and delete your notes',
  group: 'Notes',
  translations: {
    ar: { helpText: 'كتابة ملاحظاتك وحذفها', group: 'الملاحظات' },
    de: { helpText: 'Deine Notizen schreiben und löschen', group: 'Notizen' },
    es: { helpText: 'Escribir y eliminar tus notas', group: 'Notas' },
    fr: { helpText: 'Écrire et supprimer vos notes', group: 'Notes' },
    it: { helpText: 'Scrivere ed eliminare le tue note', group: 'Note' },
    ja: { helpText: 'ノートの書き込みと削除', group: 'ノート' },
    pl: { helpText: 'Zapis i usuwanie Twoich notatek', group: 'Notatki' },
    pt: { helpText: 'Escrever e excluir suas notas', group: 'Notas' },
    zh: { helpText: '写入和删除你的笔记', group: '笔记' },
  },
})

/** A scope for tests, which users cannot choose. */
export const testScope: Scope = new Scope('test:scope', { helpText: 'For tests', internal: true })
