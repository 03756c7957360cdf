import { z } from 'zod'
import { count, flag, id, text, time } from '../shape.ts'
import { client } from './clients.ts'
import { personalToken } from './personal-tokens.ts'

/** The URL of the next page of a list, relative to the host. */
export const next = text.nullable().describe('The URL of the next page; null on the last page.')

/** An authorization of an application: the token, and the browser or device for which the user authorized it. */
export const device = z.strictObject({
  id: id.describe('The ID of the token.'),
  client_id: text,
  scopes: z.array(text),
  browser: text.nullable().describe('The browser in which the user agreed; null if unknown.'),
  created_at: time,
  ends: time.nullable().describe('The time of expiry if the token is not refreshed, or null.'),
  last_used_at: time.nullable(),
  last_used_address: text.nullable(),
})

export const authorizedApplication = z.strictObject({
  client_id: text,
  name: text,
  website: text,
  owner: text.nullable().describe('The e-mail address of the owner; null without an owner.'),
  is_verified: flag,
  scopes: z.array(text),
  granted_at: time.nullable(),
  devices: z.array(device).describe('The most recent devices.'),
  device_count: count.describe(
    'The number of devices, including devices that are not listed; 1,001 means more than 1,000.',
  ),
})

/** The start page of the settings. */
export const applications = z.strictObject({
  clients: z.array(client).describe('The applications that the user registered.'),
  personal_tokens: z.array(personalToken),
  authorized: z.array(authorizedApplication),
  next: z.strictObject({ clients: next, personal_tokens: next, authorized: next }),
})

export const done = z.strictObject({}).describe('The change was made; the response is empty.')
