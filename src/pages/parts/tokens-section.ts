import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { ApplicationsView, PersonalTokenItem } from '../models/applications.ts'
import { badge, facts, lastUsed } from './facts.ts'
import { scopeIds } from './scopes.ts'
import { section } from './section.ts'
import { day, time } from './times.ts'

/** Renders the personal tokens of a user. */
export const tokensSection = (view: ApplicationsView, frame: Frame): Html => {
  const { tokens: texts } = frame.texts.applications
  return section(
    {
      id: 'tokens',
      title: texts.title,
      about: texts.about,
      action: html`<a class="button" href="${view.newToken}">${texts.create}</a>`,
      list: view.personalTokens,
      row: (token) => row(token, frame),
      empty: html`<p>${texts.none}</p><p>${texts.invite}</p>`,
    },
    frame,
  )
}

const row = (token: PersonalTokenItem, frame: Frame): Html => {
  const { facts: texts } = frame.texts
  return html`<div class="name">
<h3><a href="${token.href}"><bdi>${token.name}</bdi></a></h3>
${token.isExpired ? badge(texts.expired, 'bad') : ''}
</div>
${facts([
  lastUsed(frame, token),
  [texts.expires, token.expires === null ? texts.never : time(frame, token.expires)],
  [texts.created, day(frame, token.createdAt)],
  [texts.permissions, scopeIds(token.scopes, frame)],
])}`
}
