import type { Messages } from '../../src/pages/messages/en.ts'
import { textsWith } from '../../src/pages/messages/texts.ts'

const texts = textsWith()

/** The languages of the pages, with the direction of their texts. */
export const { directions } = texts

/** The texts of the pages in each language. */
export const languages: Readonly<Record<string, Messages>> = Object.fromEntries(
  await Promise.all(
    [...directions.keys()].map(async (code) => [code, await texts.messagesIn(code)] as const),
  ),
)

/** Returns the texts in a language. @throws Error if the pages do not have the language */
export const textsIn = (language: string): Messages => {
  const messages = languages[language]
  if (!messages) throw new Error(`There are no texts in the language ${language}.`)
  return messages
}
