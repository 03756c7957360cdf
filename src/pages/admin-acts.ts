import type { AdminActItem, AdminView } from './admin.ts'
import { facts } from './facts.ts'
import type { Frame } from './frame.ts'
import { type Html, html } from './html.ts'
import type { Messages } from './messages/en.ts'
import { section } from './section.ts'
import { time } from './times.ts'

/** What administrators did, latest first. */
export const actsSection = ({ acts }: AdminView, frame: Frame): Html => {
  const { admin: texts } = frame.texts
  return section(
    {
      id: 'acts',
      title: texts.acts,
      about: texts.actsAbout,
      list: { items: acts, first: null, next: null },
      row: (act) => row(act, frame),
      empty: html`<p>${texts.noActs}</p>`,
    },
    frame,
  )
}

const row = ({ at, actor, event, subject }: AdminActItem, frame: Frame): Html => {
  const { admin: texts } = frame.texts
  return html`<p class="name"><strong>${eventText(event, texts.events)}</strong> <bdi>${subject}</bdi></p>
${facts([
  [texts.actor, html`<bdi>${actor}</bdi>`],
  [texts.at, time(frame, at)],
])}`
}

type Events = Messages['admin']['events']

const isKnown = (event: string, events: Events): event is keyof Events =>
  Object.hasOwn(events, event)

const eventText = (event: string, events: Events): Html =>
  isKnown(event, events) ? html`${events[event]}` : html`<code>${event}</code>`
