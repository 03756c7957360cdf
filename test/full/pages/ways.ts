import type { BrowserContextOptions, Page } from 'playwright-core'
import { type Hands, keyboard, mouse, touch } from './hands.ts'

/** How somebody uses the pages. */
export interface Way {
  readonly name: string
  readonly options: BrowserContextOptions
  readonly hands: (page: Page) => Hands
  readonly hasScripts: boolean
}

/** A screen on a desk. */
export const desktop: BrowserContextOptions = { viewport: { width: 1280, height: 800 } }

/** A phone, held upright. */
export const phone: BrowserContextOptions = {
  viewport: { width: 360, height: 740 },
  deviceScaleFactor: 2,
  isMobile: true,
  hasTouch: true,
}

/** `npm run test:nodes` tests more combinations than `npm run test:full`. */
export const isWhole = process.env.NODES === 'whole'

const onDesktop: Way = { name: 'on a desktop', options: desktop, hands: mouse, hasScripts: true }
const byKeyboard: Way = {
  name: 'with the keyboard alone',
  options: desktop,
  hands: keyboard,
  hasScripts: true,
}
const onPhone: Way = { name: 'on a phone', options: phone, hands: touch, hasScripts: true }
const withoutScripts: Way = {
  name: 'on a phone without JavaScript',
  options: { ...phone, javaScriptEnabled: false },
  hands: touch,
  hasScripts: false,
}

/**
 * Everything that the pages are for can be done in each of these ways. `npm run test:full` takes the two that ask most of
 * a page, which differ in device, input and scripts.
 */
export const ways: readonly Way[] = [
  byKeyboard,
  withoutScripts,
  ...(isWhole ? [onDesktop, onPhone] : []),
]

/** With a mouse, on a screen on a desk: for what has nothing to do with the way. */
export const usual: Way = onDesktop
