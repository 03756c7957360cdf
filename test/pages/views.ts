import { Scope } from '../../src/model/scope.ts'
import type { Listed } from '../../src/pages/applications.ts'
import type { Frame } from '../../src/pages/frame.ts'
import { en } from '../../src/pages/messages/en.ts'
import { builtInPages, type PageName, type ViewOf } from '../../src/pages/pages.ts'

const now = Date.UTC(2026, 9, 17, 12)
const hour = 3_600_000
const day = 24 * hour

/** What is around the pages of the tests: English, for somebody who is logged in as an administrator. */
export const frame: Frame = {
  brand: { name: 'Notes', logo: null },
  links: {
    stylesheet: '/oauth/style.css',
    script: '/oauth/pages.js',
    home: '/',
    applications: '/account/settings/applications/',
    sessions: '/account/settings/sessions/',
    admin: '/admin/applications/',
    login: '/login',
    logout: '/logout',
  },
  reader: { language: 'en', locale: 'en-GB', direction: 'ltr' },
  texts: en,
  user: { email: 'ada@example.org', isAdmin: true },
  csrfToken: 'the-csrf-token',
  formId: 'a-form',
  now,
}

const scopes = [
  new Scope('notes:read', { helpText: 'Read your notes', group: 'Notes' }),
  new Scope('notes:write', { helpText: 'Write and delete your notes', group: 'Notes' }),
  new Scope('user:email', { helpText: 'Read your e-mail address', group: 'User' }),
  new Scope('calendar:read', { group: 'Calendar', helpText: 'See what is in your calendar' }),
  new Scope('plain'),
]

const listed = <T>(items: readonly T[], more: Partial<Listed<T>> = {}): Listed<T> => ({
  items,
  next: null,
  first: null,
  ...more,
})

/** A view of every page; `outside` is given each text that somebody else chose. */
export const sampleViews = (
  outside: (text: string) => string = (text) => text,
): { readonly [Name in PageName]: ViewOf<Name> } => {
  const settings = '/account/settings/applications/'
  const device = {
    href: `${settings}tokens/7/view/`,
    revokeAction: `${settings}tokens/7/revoke/`,
    browser: outside('Chrome on Linux'),
    scopes: ['notes:read', 'user:email'],
    createdAt: now - 40 * day,
    lastUsedAt: now - 2 * hour,
    lastUsedAddress: '203.0.113.7',
  }
  const values = {
    name: outside('Photo Print'),
    description: outside('Prints your notes on paper.\nFrom anywhere.'),
    website: outside('https://photo-print.example/'),
    redirectUris: outside('https://photo-print.example/callback\nhttp://localhost:8000/callback'),
    isConfidential: true,
    defaultScopes: ['notes:read'],
    optionalScopes: [],
  }
  return {
    login: { action: '/login', next: '/', email: outside(''), problem: undefined },
    consent: {
      action: '/oauth/authorize',
      authorizationRequest: 'one-time-id',
      client: {
        name: outside('Photo Print'),
        description: outside('Prints your notes on paper.\nFrom anywhere.'),
        website: outside('https://photo-print.example/'),
        owner: outside('grace@example.org'),
        redirectUri: 'https://photo-print.example/callback',
        isVerified: false,
        mixesAlphabets: false,
      },
      user: outside('ada@example.org'),
      scopes,
      optionalScopes: ['notes:write', 'calendar:read'],
      ticked: ['notes:write'],
      problem: undefined,
    },
    error: {
      error: outside('invalid_request'),
      description: outside('The redirect_uri is not registered for this client.'),
    },
    problem: {
      title: en.problem.notFoundTitle,
      sentence: en.problem.notFound,
      details: outside('The form has no field of that name.'),
    },
    home: {},
    applications: {
      newClient: `${settings}clients/new/`,
      newToken: `${settings}tokens/new/`,
      revokeAllAction: `${settings}authorized/revoke/`,
      done: undefined,
      problem: undefined,
      clients: listed([
        {
          href: `${settings}clients/5f0c/`,
          clientId: 'UMT1xvPq8HgFJb2VgeT5fbOjJ7zkVm3sYw6QhLcN',
          name: outside('Photo Print'),
          isConfidential: true,
          isVerified: true,
          isDisabled: false,
          createdAt: now - 400 * day,
          users: 1204,
        },
        {
          href: `${settings}clients/77aa/`,
          clientId: 'b0TjhS4mZ2xqCwE8yK1uRgN6fVdLpA9oXsIiHe3W',
          name: outside('Notes on the phone'),
          isConfidential: false,
          isVerified: false,
          isDisabled: true,
          createdAt: now - 3 * day,
          users: 1,
        },
      ]),
      personalTokens: listed(
        [
          {
            href: `${settings}tokens/1/`,
            name: outside('Backup script'),
            scopes: ['notes:read', 'notes:write'],
            createdAt: now - 90 * day,
            expires: null,
            isExpired: false,
            lastUsedAt: now - 5 * hour,
            lastUsedAddress: '2001:db8::17',
          },
          {
            href: `${settings}tokens/2/`,
            name: outside('Workshop'),
            scopes: [],
            createdAt: now - 300 * day,
            expires: now - 200 * day,
            isExpired: true,
            lastUsedAt: null,
            lastUsedAddress: null,
          },
        ],
        { next: `${settings}?tokens=2#tokens`, first: settings },
      ),
      authorized: listed([
        {
          clientId: 'c1',
          name: outside('Travel Diary'),
          website: outside('https://travel-diary.example/'),
          owner: outside('grace@example.org'),
          isVerified: true,
          scopes: ['notes:read', 'user:email'],
          grantedAt: now - 40 * day,
          lastUsedAt: now - 2 * hour,
          devices: [device, { ...device, browser: null, lastUsedAt: null, lastUsedAddress: null }],
          moreDevices: 3,
          revokeAction: `${settings}authorized/c1/revoke/`,
        },
        {
          clientId: 'c2',
          name: outside('Photo Print'),
          website: '',
          owner: null,
          isVerified: false,
          scopes: [],
          grantedAt: null,
          lastUsedAt: null,
          devices: [],
          moreDevices: 0,
          revokeAction: `${settings}authorized/c2/revoke/`,
        },
      ]),
    },
    newClient: {
      action: `${settings}clients/new/`,
      back: settings,
      values: {
        ...values,
        name: outside(''),
        description: outside(''),
        website: outside(''),
        redirectUris: outside(''),
        defaultScopes: [],
      },
      scopes,
      problem: undefined,
    },
    client: {
      action: `${settings}clients/5f0c/`,
      back: settings,
      resetAction: `${settings}clients/5f0c/reset/`,
      clientId: 'UMT1xvPq8HgFJb2VgeT5fbOjJ7zkVm3sYw6QhLcN',
      name: outside('Photo Print'),
      isConfidential: true,
      isVerified: true,
      isDisabled: false,
      createdAt: now - 400 * day,
      users: 1204,
      previousSecretExpires: null,
      overlaps: [0, 3600, 86_400, 604_800],
      values,
      scopes,
      clientSecret: null,
      tryIt: {
        href: '/oauth/authorize?response_type=code&client_id=UMT1',
        curl: outside(
          'curl -u UMT1xvPq8HgFJb2VgeT5fbOjJ7zkVm3sYw6QhLcN:SECRET http://localhost:3000/oauth/token \\\n  -d grant_type=authorization_code -d code=CODE -d redirect_uri=https://photo-print.example/callback',
        ),
      },
      done: undefined,
      problem: undefined,
    },
    newPersonalToken: {
      action: `${settings}tokens/new/`,
      back: settings,
      values: { name: outside(''), scopes: ['notes:read'], expires: '' },
      scopes,
      firstDay: '2026-10-18',
      lastDay: null,
      problem: undefined,
    },
    personalToken: {
      action: `${settings}tokens/1/`,
      back: settings,
      rotateAction: `${settings}tokens/1/rotate/`,
      name: outside('Backup script'),
      createdAt: now - 90 * day,
      expires: null,
      isExpired: false,
      lastUsedAt: now - 5 * hour,
      lastUsedAddress: '2001:db8::17',
      previousExpires: null,
      overlaps: [0, 3600, 86_400],
      values: { name: outside('Backup script'), scopes: ['notes:read'] },
      scopes,
      fresh: null,
      done: undefined,
      problem: undefined,
    },
    authorization: {
      back: settings,
      client: {
        clientId: 'c1',
        name: outside('Travel Diary'),
        website: outside('https://travel-diary.example/'),
        owner: outside('grace@example.org'),
        isVerified: true,
      },
      device,
      scopes: scopes.slice(0, 3),
      ends: now + 30 * day,
      revokeAllAction: `${settings}authorized/c1/revoke/`,
    },
    sessions: {
      action: '/account/settings/sessions/',
      done: undefined,
      problem: undefined,
      sessions: listed([
        {
          id: 's1',
          isCurrent: true,
          browser: outside('Firefox on Windows'),
          address: '203.0.113.7',
          createdAt: now - 3 * day,
          lastSeenAt: now,
        },
        {
          id: 's2',
          isCurrent: false,
          browser: null,
          address: '2001:db8::17',
          createdAt: now - 30 * day,
          lastSeenAt: now - 9 * day,
        },
      ]),
    },
    admin: {
      action: '/admin/applications/',
      search: { client: outside(''), token: outside('backup') },
      clients: listed(
        [
          {
            seen: 'as-it-was',
            clientId: 'UMT1xvPq8HgFJb2VgeT5fbOjJ7zkVm3sYw6QhLcN',
            name: outside('Photo Print'),
            owner: outside('grace@example.org'),
            website: outside('https://photo-print.example/'),
            redirectUris: [outside('https://photo-print.example/callback')],
            isConfidential: true,
            isVerified: false,
            isDisabled: false,
            createdAt: now - 400 * day,
            users: 1204,
          },
          {
            seen: 'as-it-was',
            clientId: 'b0TjhS4mZ2xqCwE8yK1uRgN6fVdLpA9oXsIiHe3W',
            name: outside('Free Money'),
            owner: null,
            website: '',
            redirectUris: [],
            isConfidential: false,
            isVerified: false,
            isDisabled: true,
            createdAt: now - 3 * day,
            users: 2,
          },
        ],
        { next: '/admin/applications/?after=2' },
      ),
      tokens: listed([
        {
          id: 1,
          name: outside('Backup script'),
          clientId: 'c9',
          isPersonal: true,
          user: outside('ada@example.org'),
          scopes: ['notes:read'],
          createdAt: now - 90 * day,
          expires: null,
          lastUsedAt: now - 5 * hour,
        },
        {
          id: 2,
          name: outside('Travel Diary'),
          clientId: 'UMT1xvPq8HgFJb2VgeT5fbOjJ7zkVm3sYw6QhLcN',
          isPersonal: false,
          user: outside('grace@example.org'),
          scopes: ['notes:read', 'user:email'],
          createdAt: now - hour,
          expires: now + hour,
          lastUsedAt: null,
        },
      ]),
      acts: [
        {
          at: now - hour,
          event: 'client.disabled',
          actor: 'ada@example.org',
          subject: outside('Free Money'),
        },
        {
          at: now - day,
          event: 'something.else',
          actor: 'ada@example.org',
          subject: outside('Photo Print'),
        },
      ],
      done: undefined,
      problem: undefined,
    },
  }
}

/** The HTML of a page, by its name. */
export const renderPage = async <Name extends PageName>(
  name: Name,
  view: ViewOf<Name>,
  around: Partial<Frame> = {},
): Promise<string> => {
  const page = builtInPages[name] as (view: ViewOf<Name>, frame: Frame) => unknown
  return String(await page(view, { ...frame, ...around }))
}
