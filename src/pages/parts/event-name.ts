import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { Messages } from '../messages/en.ts'

type Events = Messages['events']

const isKnown = (event: string, events: Events): event is keyof Events =>
  Object.hasOwn(events, event)

/** An event of the audit log in words; as it is called, where another version knew it. */
export const eventName = (event: string, { texts: { events } }: Frame): Html =>
  isKnown(event, events) ? html`${events[event]}` : html`<code>${event}</code>`
