import { z } from 'zod'
import { count, flag, id, text, time } from '../shape.ts'
import { client } from './clients.ts'
import { personalToken } from './personal-tokens.ts'

/** The address of the next page of a list, relative to the host. */
export const next = text.nullable().describe('The address of the next page; null on the last page.')

/** One authorization of an application: a token and the device that holds it. */
export const device = z.strictObject({
  id: id.describe('The ID of its token.'),
  client_id: text,
  scopes: z.array(text),
  browser: text.nullable().describe('The browser in which the user agreed; null if unknown.'),
  created_at: time,
  ends: time.nullable().describe('When it expires unless it is refreshed; null if never.'),
  last_used_at: time.nullable(),
  last_used_address: text.nullable(),
})

export const authorizedApplication = z.strictObject({
  client_id: text,
  name: text,
  website: text,
  owner: text.nullable().describe('The e-mail address of its owner; null if it has no owner.'),
  is_verified: flag,
  scopes: z.array(text),
  granted_at: time.nullable(),
  devices: z.array(device).describe('The latest devices.'),
  device_count: count.describe(
    'The number of all devices, listed or not; 1,001 means more than 1,000.',
  ),
})

/** The start page of the settings. */
export const applications = z.strictObject({
  clients: z.array(client).describe('The applications that the user registered.'),
  personal_tokens: z.array(personalToken),
  authorized: z.array(authorizedApplication),
  next: z.strictObject({ clients: next, personal_tokens: next, authorized: next }),
})

export const done = z.strictObject({}).describe('The change is done; there is nothing to report.')
