import { domainToASCII, domainToUnicode } from 'node:url'
import { deceptive, tooManyMarks, unseen } from './characters.ts'
import { InvalidField } from './invalid-field.ts'
import { mixesAlphabets } from './mixes-alphabets.ts'

/** The maximum number of characters of an e-mail address (RFC 5321 §4.5.3.1.3). */
export const maxEmailLength = 254

type EmailProblem = 'emailInvalid' | 'emailUnseen' | 'emailLookAlike'

interface Parts {
  /** The part before the `@` in NFC, as it was written. */
  readonly local: string
  /** The domain in ASCII and in lower case. */
  readonly domain: string
}

const localPart = /^[^\s@"<>(),:;[\]\\]+$/
const asciiDomain = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/
// The ASCII characters that a host name cannot contain. Node's parser would decode or cut some of them.
const notInDomain = /[\0-,/:-@[-^`{-\x7F]/

/** Replaces full-width characters, which Japanese and Chinese keyboards produce (RFC 8265 §3.3.2). */
const narrow = (text: string): string =>
  text.replaceAll(/[\uFF01-\uFF5E]/g, (wide) =>
    String.fromCharCode(wide.charCodeAt(0) - 0xff_01 + 0x21),
  )

/** Returns a domain in ASCII by UTS 46, without a trailing dot; undefined for a text that is not a domain. */
const domainIn = (text: string): string | undefined => {
  const written = text.replace(/\.$/, '').toLowerCase()
  if (asciiDomain.test(written)) return written
  if (notInDomain.test(written)) return undefined
  const ascii = domainToASCII(written).replace(/\.$/, '')
  return asciiDomain.test(ascii) ? ascii : undefined
}

const partsOf = (written: string): Parts | EmailProblem => {
  const text = written.trim()
  // Check the length first, because the time of normalization grows with the length.
  if (text.length > maxEmailLength || tooManyMarks.test(text)) return 'emailInvalid'
  if (deceptive.test(text) || unseen.test(text)) return 'emailUnseen'
  const [local = '', host, ...more] = narrow(text.normalize('NFC')).split('@')
  const domain = host === undefined || more.length > 0 ? undefined : domainIn(host)
  if (!localPart.test(local) || domain === undefined) return 'emailInvalid'
  return local.length + 1 + domain.length > maxEmailLength ? 'emailInvalid' : { local, domain }
}

const lowered = (text: string): string => text.normalize('NFC').toLowerCase().normalize('NFC')

/**
 * Returns the normal form of an e-mail address, by which addresses are stored, compared and counted: the part before
 * the `@` in NFC and in lower case, and the domain in ASCII by UTS 46. Returns undefined for a text that is not an
 * address, and for an address with invisible characters.
 */
export const emailKey = (typed: string): string | undefined => {
  const parts = partsOf(typed)
  return typeof parts === 'string' ? undefined : `${lowered(parts.local)}@${parts.domain}`
}

/** Returns the key of an account in counters: the normal form of the typed address, or the whole text. */
export const accountKey = (typed: string): string => emailKey(typed) ?? typed

/** Returns why a text is not an e-mail address; undefined for an address. */
export const emailProblemOf = (typed: string): EmailProblem | undefined => {
  const parts = partsOf(typed)
  if (typeof parts === 'string') return parts
  return isDeceptive(lowered(parts.local)) ? 'emailLookAlike' : undefined
}

// Refuse letters with a compatibility mapping too, such as ligatures and mathematical letters (RFC 8264 §9.17).
const isDeceptive = (local: string): boolean =>
  mixesAlphabets(local) || local.normalize('NFKC') !== local

const messages: Readonly<Record<EmailProblem, string>> = {
  emailInvalid: 'This is not an e-mail address.',
  emailUnseen: 'The e-mail address contains an invisible character.',
  emailLookAlike: 'The e-mail address contains letters that look like letters of another alphabet.',
}

/**
 * Validates the e-mail address of a new account and returns its normal form. Also refuses look-alike letters before the
 * `@`, because such an address looks like the address of another user.
 * @throws InvalidField
 */
export const validEmail = (typed: string): string => {
  const problem = emailProblemOf(typed)
  const email = emailKey(typed)
  if (problem !== undefined || email === undefined) {
    const known = problem ?? 'emailInvalid'
    throw new InvalidField('email', messages[known], { problem: known })
  }
  return email
}

/**
 * Returns the spellings under which an address may be stored, the normal form first: the normal form, the same address
 * with the domain in Unicode, and the typed text in NFC and in lower case. Most addresses have one spelling.
 */
export const emailSpellings = (typed: string): readonly string[] => {
  const text = typed.trim()
  if (text.length > maxEmailLength || tooManyMarks.test(text)) return []
  const key = emailKey(text)
  return [...new Set([...(key === undefined ? [] : [key, inUnicode(key)]), lowered(text)])]
}

const inUnicode = (key: string): string => {
  if (!key.includes('@xn--') && !key.includes('.xn--')) return key
  const at = key.lastIndexOf('@') + 1
  return `${key.slice(0, at)}${domainToUnicode(key.slice(at))}`
}

/**
 * Returns the beginnings of stored addresses that begin with the typed text. A domain is only converted up to its last
 * label, because the user may have typed a part of this label.
 */
export const emailPrefixes = (typed: string): readonly string[] => {
  const text = typed.trim()
  if (text.length > maxEmailLength || tooManyMarks.test(text)) return []
  const written = lowered(narrow(text))
  const at = written.indexOf('@') + 1
  const host = written.slice(at)
  const key = emailKey(text)
  const whole = [written, ...(key === undefined ? [] : [key, inUnicode(key)])]
  if (at === 0 || isAscii(host)) return [...new Set(whole)]
  const dot = Math.max(host.lastIndexOf('.'), host.lastIndexOf('。')) + 1
  const labels = dot === 0 ? '' : `${domainIn(host.slice(0, dot - 1)) ?? ''}.`
  const part = isAscii(host.slice(dot)) ? host.slice(dot) : 'xn--'
  return [...new Set([`${written.slice(0, at)}${labels}${part}`, ...whole])]
}

const isAscii = (text: string): boolean => !/[^\0-\x7F]/.test(text)

/** Returns the texts to search for in stored addresses, for a typed part of an address: an address, or a domain. */
export const emailTexts = (typed: string): readonly string[] => {
  if (typed.includes('@')) return [...new Set([typed, ...emailSpellings(typed)])]
  const domain = typed.length > maxEmailLength ? undefined : domainIn(typed.trim())
  return domain?.includes('xn--') ? [...new Set([typed, domain, domainToUnicode(domain)])] : [typed]
}

/**
 * Returns the e-mail address that the application holds for a user, as this server reports it: the domain in ASCII, and
 * the part before the `@` as the application wrote it. Replaces invisible characters in other texts.
 */
export const heldEmail = (email: string): string => {
  if (/^[!-~]*$/.test(email)) return email
  const parts = partsOf(email)
  if (typeof parts !== 'string') return `${parts.local}@${parts.domain}`
  const characters = [...email.slice(0, maxEmailLength)]
  return characters
    .map((character) =>
      deceptive.test(character) || unseen.test(character) ? '\uFFFD' : character,
    )
    .join('')
}

/**
 * Returns an address for display. Writes a part before the `@` that looks like another in Punycode, so that it cannot
 * be mistaken for the address of another user (UTS 39).
 */
export const shownEmail = (email: string): string => {
  if (/^[!-~]*$/.test(email)) return email
  const at = email.lastIndexOf('@')
  const local = at === -1 ? email : email.slice(0, at)
  if (!isDeceptive(local)) return email
  return `${escaped(local)}${at === -1 ? '' : email.slice(at)}`
}

const escaped = (local: string): string => {
  const ascii = domainToASCII(local.toLowerCase())
  // Node maps some letters to ASCII letters, which would hide the difference.
  if (ascii.includes('xn--')) return ascii
  return local.replaceAll(/[^!-~]/gu, (c) => `\\u{${(c.codePointAt(0) ?? 0).toString(16)}}`)
}
