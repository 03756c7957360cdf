import { ar } from './ar.ts'
import { de } from './de.ts'
import { en, type Messages } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import { it } from './it.ts'
import { ja } from './ja.ts'
import { pl } from './pl.ts'
import { pt } from './pt.ts'
import { zh } from './zh.ts'

/** The texts of the pages in each language. */
export const languages = { en, ar, de, es, fr, it, ja, pl, pt, zh } as const satisfies Record<
  string,
  Messages
>

/** The code of a language of the pages, such as `en`. */
export type Language = keyof typeof languages
