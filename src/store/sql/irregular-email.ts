import { type RawBuilder, sql } from 'kysely'

/** Builds the condition that an e-mail address may not be in normal form: it is not ASCII, or ends with a dot. */
export const isIrregularEmail = (isPostgres: boolean): RawBuilder<boolean> =>
  isPostgres
    ? sql`(octet_length(email) <> char_length(email) or email like '%.')`
    : sql`(length(cast(email as blob)) <> length(email) or email like '%.')`
