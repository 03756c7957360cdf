import { type Html, html } from 'svc-oauth2server'
import type { Links } from './links.ts'

type Entry = readonly [href: string | null, title: string, about: string]

/** Renders links to every page, grouped by the people who use the page. */
export const everyPage = (
  links: Links,
  { isLoggedIn, isAdmin }: { readonly isLoggedIn: boolean; readonly isAdmin: boolean },
): Html => html`<section aria-labelledby="pages">
<h2 id="pages">Every page</h2>
<div class="groups">
${isLoggedIn ? group('Your account', accountEntries(links)) : ''}
${isLoggedIn ? group('For developers', developerEntries(links)) : ''}
${isAdmin ? group('For administrators', adminEntries(links)) : ''}
${group('For machines', machineEntries(links))}
</div>
</section>`

const accountEntries = (links: Links): readonly Entry[] => [
  [links.applications, 'Applications and tokens', 'The programs that have access to your account'],
  [links.sessions, 'Sessions', 'The browsers in which you are logged in'],
  [links.password, 'Password', 'Change it'],
  [links.activity, 'Activity', 'What happened with your account'],
  [links.device, 'Device', 'Enter the code that a device shows'],
]

const developerEntries = (links: Links): readonly Entry[] => [
  [links.newToken, 'New personal token', 'For your own programs'],
  [links.newClient, 'New application', 'For a program that acts for other users'],
  [links.startSample, 'Sample application', 'The whole flow, with the consent page'],
]

const adminEntries = (links: Links): readonly Entry[] => [
  [links.admin, 'Administration', 'All applications, tokens and users'],
  [links.adminActivity, 'All activity', 'The audit log'],
]

const machineEntries = (links: Links): readonly Entry[] => [
  [links.metadata, 'Server metadata', 'RFC 8414'],
  [links.resourceMetadata, 'API metadata', 'RFC 9728'],
  [links.openapi, 'OpenAPI', 'The pages as a JSON API'],
  [links.health, 'Health', 'Whether the server is ready'],
]

const group = (title: string, entries: readonly Entry[]): Html => html`<div>
<h3>${title}</h3>
<ul class="ways">
${entries.map(([href, name, about]) => (href === null ? '' : html`<li><a href="${href}">${name}</a><p>${about}</p></li>`))}
</ul>
</div>`
