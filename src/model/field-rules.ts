import { InvalidField } from './invalid-field.ts'

/** The maximum number of characters of the name of a client or a personal token. */
export const maxNameLength = 40
const longestDescription = 4_000
const longestUrl = 2_000

// Control, bidirectional control and invisible characters: a name must not pretend to be another text.
const deceptive = /[\p{Cc}\p{Cs}\p{Co}\p{Cn}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/u
// Of what cannot be seen, scripts and emoji need the joiners and the variation selector; a name needs no other.
const invisible = /(?!\u200C|\u200D|\uFE0F)[\p{DI}\p{Cf}\u2800]/u
const onlyInvisible = /^[\p{DI}\p{Cf}\p{Z}\s\u2800]*$/u
// More marks on one letter than any writing system has; to normalize them takes the square of their number.
const tooManyMarks = /\p{M}{31}/u

const normalized = (field: string, value: string): string => {
  if (tooManyMarks.test(value))
    throw new InvalidField(field, `The ${field} has too many marks on one letter.`, {
      problem: 'tooManyMarks',
    })
  return value.normalize('NFC')
}

/** Returns a name as a reader sees it: names that look the same become equal. */
export const asSeen = (name: string): string =>
  name
    .replaceAll(/[\p{DI}\p{Cf}]/gu, '')
    // Afterwards: an invisible character between a letter and its accent keeps them apart.
    .normalize('NFC')
    .replaceAll(/\s+/gu, ' ')
    .trim()

/** A client's or a personal token's name, in NFC, with single blanks: 1 to 40 characters that can be seen. */
export const validName = (value: string): string => {
  const name = normalized('name', value)
    .trim()
    .replaceAll(/\p{Z}+/gu, ' ')
  if (onlyInvisible.test(name))
    throw new InvalidField('name', 'A name is needed.', { problem: 'nameMissing' })
  if ([...name].length > maxNameLength) {
    throw new InvalidField(
      'name',
      `The name must not be longer than ${maxNameLength} characters.`,
      {
        problem: 'nameTooLong',
        value: maxNameLength,
      },
    )
  }
  if (deceptive.test(name) || invisible.test(name))
    throw new InvalidField('name', 'The name contains a character that cannot be shown.', {
      problem: 'unseenCharacter',
    })
  return name
}

export const validDescription = (value: string): string => {
  const description = normalized('description', value).replaceAll('\r\n', '\n').trim()
  if ([...description].length > longestDescription) {
    throw new InvalidField(
      'description',
      `The description must not be longer than ${longestDescription} characters.`,
      { problem: 'descriptionTooLong', value: longestDescription },
    )
  }
  if (deceptive.test(description.replaceAll(/[\n\t]/g, ''))) {
    throw new InvalidField(
      'description',
      'The description contains a character that cannot be shown.',
      { problem: 'unseenCharacter' },
    )
  }
  return description
}

const printableUrl =
  /^https?:\/\/[\x21\x23-\x26\x28-\x3B\x3D\x3F-\x5B\x5D\x5F\x61-\x7A\x7E\u00A1-\uFFFD]+$/i

/** A website that is shown as a link: empty, https, or http on this very machine. */
export const validWebsite = (value: string): string => {
  const website = value.trim()
  if (website === '') return ''
  const refuse = () =>
    new InvalidField('website', 'The website must be an address that starts with https://.', {
      problem: 'websiteInvalid',
    })
  if (website.length > longestUrl || !printableUrl.test(website)) throw refuse()
  if (deceptive.test(website)) throw refuse()
  if (!URL.canParse(website)) throw refuse()
  const { protocol, hostname, username, password } = new URL(website)
  if (username !== '' || password !== '') throw refuse()
  if (protocol === 'http:' && hostname !== 'localhost') throw refuse()
  return website
}

const longestEmail = 254

/** Returns the normal form of an e-mail address, which is stored and looked up, or undefined for an invalid one. */
export const emailKey = (value: string): string | undefined => {
  const trimmed = value.trim()
  return trimmed.length > longestEmail ? undefined : trimmed.normalize('NFC').toLowerCase()
}

/** What an account is counted by, from what was typed: also where it is no e-mail address. */
export const accountKey = (typed: string): string => emailKey(typed) ?? typed

/** An e-mail address in lower case, as the built-in user table keeps it. */
export const validEmail = (value: string): string => {
  const email = emailKey(value)
  if (
    email === undefined ||
    !/^[^\s@"<>(),:;[\]\\]+@[^\s@"<>(),:;[\]\\]+$/.test(email) ||
    deceptive.test(email)
  ) {
    throw new InvalidField('email', 'This is no e-mail address.')
  }
  return email
}

const shortestPassword = 8
export const longestPasswordBytes = 1024

/** @returns the password as it is; hashing normalizes it */
export const validPassword = (value: string): string => {
  if ([...value].length < shortestPassword) {
    throw new InvalidField(
      'password',
      `The password must have at least ${shortestPassword} characters.`,
    )
  }
  if (Buffer.byteLength(value) > longestPasswordBytes) {
    throw new InvalidField(
      'password',
      `The password must not be longer than ${longestPasswordBytes} bytes.`,
    )
  }
  return value
}
