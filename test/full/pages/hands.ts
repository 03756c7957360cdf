import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** What a person does with a page, by whatever means. */
export interface Hands {
  /** A button, a link, a summary; a box to tick or untick; a radio button. */
  press(target: Locator): Promise<void>
  /** Puts a text in the place of what stands in a field. */
  type(target: Locator, text: string): Promise<void>
  /** A day such as `2027-01-31`. */
  typeDay(target: Locator, day: string): Promise<void>
  /** An option of a list, by what it says. */
  choose(target: Locator, option: string): Promise<void>
}

const pointing = (page: Page, press: Hands['press']): Hands => ({
  press,
  async type(target, text) {
    await press(target)
    await target.selectText()
    if (text === '') return page.keyboard.press('Delete')
    await page.keyboard.insertText(text)
  },
  typeDay: (target, day) => target.fill(day),
  async choose(target, option) {
    await target.selectOption({ label: option })
  },
})

/** Somebody with a mouse. */
export const mouse = (page: Page): Hands => pointing(page, (target) => target.click())

/** Somebody with fingers. */
export const touch = (page: Page): Hands => pointing(page, (target) => target.tap())

/** Somebody with a keyboard alone: every stop on the way has to show where it is. */
export const keyboard = (page: Page): Hands => {
  const go = async (target: Locator): Promise<void> => {
    await target.waitFor()
    for (let stops = 0; stops < 300; stops += 1) {
      if (await isThere(target)) return
      await page.keyboard.press('Tab')
    }
    throw new Error(`The Tab key does not lead to ${target}.`)
  }
  return {
    async press(target) {
      const kind = await target.getAttribute('type')
      if (kind === 'radio') return goToRadio(page, target, go)
      await go(target)
      await page.keyboard.press(kind === 'checkbox' ? 'Space' : 'Enter')
    },
    async type(target, text) {
      await go(target)
      await page.keyboard.press('ControlOrMeta+A')
      if (text === '') return page.keyboard.press('Delete')
      await page.keyboard.type(text)
    },
    async typeDay(target, day) {
      await go(target)
      const [year = '', month = '', date = ''] = day.split('-')
      // In the order of the browser's own language, which is American English.
      await page.keyboard.type(`${month}${date}${year}`)
    },
    async choose(target, option) {
      await go(target)
      await page.keyboard.type(option)
    },
  }
}

// Of a group of radio buttons the keyboard reaches the one that is chosen, and arrows choose another.
const goToRadio = async (
  page: Page,
  target: Locator,
  go: (target: Locator) => Promise<void>,
): Promise<void> => {
  const name = await target.getAttribute('name')
  await go(page.locator(`input[name="${name}"]:checked`))
  while (!(await target.isChecked())) await page.keyboard.press('ArrowDown')
}

const isThere = async (target: Locator): Promise<boolean> => {
  const focus = await target.evaluate((element) => {
    const view = element.ownerDocument.defaultView
    const active = element.ownerDocument.activeElement
    if (active === null || active.localName === 'body') return { isTarget: false }
    const { outlineStyle, outlineWidth } = view.getComputedStyle(active)
    const { top, bottom, left, right } = active.getBoundingClientRect()
    const isShown =
      bottom > Math.max(0, top) &&
      right > Math.max(0, left) &&
      top < view.innerHeight &&
      left < view.innerWidth
    // The parts of a date have marks of their own.
    const isMarked =
      active.type === 'date' || (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2)
    return {
      isTarget: active === element,
      unseen: isShown && isMarked ? undefined : active.outerHTML.slice(0, 200),
    }
  })
  expect(focus.unseen, 'the focus is where nobody sees it').toBeUndefined()
  return focus.isTarget
}
