import type { Frame } from '../frame.ts'
import { type Html, html } from '../html.ts'
import type { Messages } from '../messages/en.ts'

type Events = Messages['events']

const isKnown = (event: string, events: Events): event is keyof Events =>
  Object.hasOwn(events, event)

/** Renders the text of an audit event. If the messages contain no text for the event, renders the name of the event. */
export const eventName = (event: string, { texts: { events } }: Frame): Html =>
  isKnown(event, events) ? html`${events[event]}` : html`<code>${event}</code>`
