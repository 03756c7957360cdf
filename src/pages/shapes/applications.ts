import { z } from 'zod'
import { client } from './clients.ts'
import { formList, formText } from './form-fields.ts'
import { personalToken } from './personal-tokens.ts'
import { count, flag, id, nameShapes, text, time } from './shape.ts'

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

/** An application, for users who authorized it. */
export const application = z.strictObject({
  client_id: text,
  name: text,
  description: text,
  website: text,
  owner: text.nullable().describe('The e-mail address of the owner; null without an owner.'),
  maker: text
    .nullable()
    .describe('What pages show as the owner: the address, or the host of the metadata document.'),
  logo: text
    .nullable()
    .describe('The path of the stored logo of a verified application; null without one.'),
  is_verified: flag,
})

export const authorizedApplication = application.extend({
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

/** The members that every list with a search, an order and filters has. */
export const arrangement = z.strictObject({
  count: count.describe('The number of entries that the search and the filters found.'),
  is_partial: flag.describe(
    'Whether further entries exist, which were neither searched nor sorted for this page.',
  ),
  previous: text.nullable().describe('The URL of the previous page; null on the first page.'),
  next,
})

export const personalTokens = arrangement.extend({ personal_tokens: z.array(personalToken) })
export const clients = arrangement.extend({ clients: z.array(client) })
export const authorizedApplications = arrangement.extend({
  authorized: z.array(authorizedApplication),
})

/** The entries of a list that a user selected. */
export const selected = z.strictObject({
  selected: z.array(z.strictObject({ id: text, name: text })),
})

export const selection = z.looseObject({
  id: formList.describe('The IDs of at most 25 entries of a list.'),
})

export const deleted = z.strictObject({
  undo: text.optional().describe('The ID with which the deletion can be undone for ten seconds.'),
})

export const undo = z.looseObject({ undo: formText })

nameShapes({
  Applications: applications,
  AuthorizedApplication: authorizedApplication,
  Device: device,
  PersonalTokens: personalTokens,
  Clients: clients,
  AuthorizedApplications: authorizedApplications,
  Selected: selected,
  Selection: selection,
  Deleted: deleted,
  Undo: undo,
})
