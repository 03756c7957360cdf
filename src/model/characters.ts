/**
 * Control characters (also of bidirectional text), unpaired surrogates, and private-use and unassigned characters. They
 * could make a text look like another text.
 */
export const deceptive = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u

/** Every invisible character, also joiners and variation selectors. */
export const unseen = /[\p{DI}\p{Cf}\u2800]/u

/** More than 30 marks on one letter: the time of normalization grows with the square of their number. */
export const tooManyMarks = /\p{M}{31}/u
