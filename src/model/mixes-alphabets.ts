const latin = /\p{Script=Latin}/u
// Alphabets with letters that look like Latin ones.
const alike =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}]/u

/** Whether a name has Latin letters beside those of an alphabet that has the same shapes: `pаypal` with a Cyrillic `а`. */
export const mixesAlphabets = (name: string): boolean => latin.test(name) && alike.test(name)
