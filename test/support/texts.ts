import { messagesOf } from '../../src/pages/messages/texts.ts'

/** The texts of the pages in English. */
export const en = messagesOf('en')
