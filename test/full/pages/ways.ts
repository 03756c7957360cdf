import type { BrowserContextOptions, Page } from 'playwright-core'
import { type InputDevice, keyboard, mouse, touch } from './hands.ts'

/** The device, the input and the scripting with which a user visits the pages. */
export interface Way {
  readonly name: string
  readonly options: BrowserContextOptions
  readonly hands: (page: Page) => InputDevice
  readonly hasScripts: boolean
}

/** A desktop screen. */
export const desktop: BrowserContextOptions = { viewport: { width: 1280, height: 800 } }

/** A phone in portrait orientation. */
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
  name: 'with the keyboard only',
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
 * Ways to use the pages. `npm run test:full` tests the two most demanding ways, which differ in device, input and
 * scripting.
 */
export const ways: readonly Way[] = [
  byKeyboard,
  withoutScripts,
  ...(isWhole ? [onDesktop, onPhone] : []),
]

/** Ways to do the tasks whose effort `docs/pages.md` compares, which also include a phone with JavaScript. */
export const taskWays: readonly Way[] = isWhole ? ways : [...ways, onPhone]

/** A desktop with a mouse, for tests that do not depend on the device or the input. */
export const usual: Way = onDesktop
