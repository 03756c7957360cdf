import { deceptive, tooManyMarks } from './characters.ts'
import { InvalidField } from './invalid-field.ts'

/** The maximum number of characters of the name of a client or a personal token. */
export const maxNameLength = 40
const maxDescriptionLength = 4_000
const maxUrlLength = 2_000
// A longer text is refused before it is normalized. A letter with marks can consist of several characters.
const maxFieldLength = 4 * maxDescriptionLength

// Refuse invisible characters. Permit joiners and a variation selector after letters of the scripts and after the emoji
// that need them, because between other letters they make two names look alike.
const invisible = /(?!\u200C|\u200D|\uFE0F)[\p{DI}\p{Cf}\u2800]/u
const takesJoiner =
  /[\p{Script=Arabic}\p{Script=Bengali}\p{Script=Devanagari}\p{Script=Gujarati}\p{Script=Gurmukhi}\p{Script=Kannada}\p{Script=Khmer}\p{Script=Malayalam}\p{Script=Mongolian}\p{Script=Myanmar}\p{Script=Oriya}\p{Script=Sinhala}\p{Script=Syriac}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Tibetan}]/u
const emoji = /\p{Extended_Pictographic}/u
const endsEmoji = /\uFE0F|\u20E3|\p{Emoji_Modifier}/u

const hasMisplacedJoiner = (name: string): boolean => {
  const characters = [...name]
  return characters.some((character, index) => {
    const before = characters[index - 1] ?? ''
    if (character === '\uFE0F') return !emoji.test(before) && characters[index + 1] !== '\u20E3'
    const isJoiner = character === '\u200C' || character === '\u200D'
    return isJoiner && !takesJoiner.test(before) && !emoji.test(before) && !endsEmoji.test(before)
  })
}

const onlyInvisible = /^[\p{DI}\p{Cf}\p{Z}\s\u2800]*$/u

const normalized = (field: string, value: string): string => {
  if (value.length > maxFieldLength)
    throw new InvalidField(field, `The ${field} is too long.`, {
      problem: field === 'name' ? 'nameTooLong' : 'descriptionTooLong',
      value: field === 'name' ? maxNameLength : maxDescriptionLength,
    })
  if (tooManyMarks.test(value))
    throw new InvalidField(field, `The ${field} has a letter with too many combining marks.`, {
      problem: 'tooManyMarks',
    })
  return value.normalize('NFC')
}

/** Returns a name in NFC without invisible characters and with single blanks, for comparisons. */
export const asSeen = (name: string): string =>
  name
    .replaceAll(/[\p{DI}\p{Cf}]/gu, '')
    // Normalize after this removal, because an invisible character may separate a letter from its accent.
    .normalize('NFC')
    .replaceAll(/\s+/gu, ' ')
    .trim()

/**
 * Validates the name of a client or a personal token: 1 to 40 characters. Returns the name in NFC with single blanks.
 * @throws InvalidField
 */
export const validName = (value: string): string => {
  const name = normalized('name', value)
    .trim()
    .replaceAll(/\p{Z}+/gu, ' ')
  if (onlyInvisible.test(name))
    throw new InvalidField('name', 'The name is missing.', { problem: 'nameMissing' })
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
  if (deceptive.test(name) || invisible.test(name) || hasMisplacedJoiner(name))
    throw new InvalidField('name', 'The name contains a character that cannot be shown.', {
      problem: 'unseenCharacter',
    })
  return name
}

/** Validates a description: at most 4,000 characters. Returns the description in NFC. @throws InvalidField */
export const validDescription = (value: string): string => {
  const description = normalized('description', value).replaceAll('\r\n', '\n').trim()
  if ([...description].length > maxDescriptionLength) {
    throw new InvalidField(
      'description',
      `The description must not be longer than ${maxDescriptionLength} characters.`,
      { problem: 'descriptionTooLong', value: maxDescriptionLength },
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

// The time to convert a host to ASCII grows with the square of its length.
const shortHost = /^https?:\/\/[^/?#]{1,255}(?:[/?#]|$)/i
const printableUrl =
  /^https?:\/\/[\x21\x23-\x26\x28-\x3B\x3D\x3F-\x5B\x5D\x5F\x61-\x7A\x7E\u00A1-\uFFFD]+$/i

/** Validates a website that is shown as a link: empty, https, or http on localhost. */
export const validWebsite = (value: string): string => {
  const website = value.trim()
  if (website === '') return ''
  const refuse = () =>
    new InvalidField('website', 'The website must be a URL that starts with https://.', {
      problem: 'websiteInvalid',
    })
  if (website.length > maxUrlLength || !printableUrl.test(website)) throw refuse()
  if (deceptive.test(website) || !shortHost.test(website)) throw refuse()
  const url = URL.parse(website)
  if (!url) throw refuse()
  const { protocol, hostname, username, password } = url
  if (username !== '' || password !== '') throw refuse()
  if (protocol === 'http:' && hostname !== 'localhost') throw refuse()
  return website
}

export const minPasswordLength = 8
export const maxPasswordBytes = 1024

/** Validates the length of a password, and returns the password unchanged. */
export const validPassword = (value: string, field = 'password'): string => {
  if (Buffer.byteLength(value) > maxPasswordBytes) {
    throw new InvalidField(
      field,
      `The password must not be longer than ${maxPasswordBytes} bytes.`,
      { problem: 'passwordTooLong', value: maxPasswordBytes },
    )
  }
  if ([...value].length < minPasswordLength) {
    throw new InvalidField(
      field,
      `The password must have at least ${minPasswordLength} characters.`,
      { problem: 'passwordTooShort', value: minPasswordLength },
    )
  }
  return value
}
