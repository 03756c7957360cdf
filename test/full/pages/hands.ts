import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** The actions of a user on a page, with any input device. */
export interface InputDevice {
  /** Presses a button, link, summary, checkbox or radio button. */
  press(target: Locator): Promise<void>
  /** Replaces the text of a field. */
  type(target: Locator, text: string): Promise<void>
  /** Enters a day such as `2027-01-31` into a date field. */
  typeDay(target: Locator, day: string): Promise<void>
  /** Selects an option of a list by its label. */
  choose(target: Locator, option: string): Promise<void>
}

const pointing = (page: Page, press: InputDevice['press']): InputDevice => ({
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

/** A user with a mouse. */
export const mouse = (page: Page): InputDevice => pointing(page, (target) => target.click())

/** A user with a touch screen. */
export const touch = (page: Page): InputDevice => pointing(page, (target) => target.tap())

/** A user with only a keyboard. Throws if a focused element shows no focus indicator. */
export const keyboard = (page: Page): InputDevice => {
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
      // The browser uses American English, which writes the month first.
      await page.keyboard.type(`${month}${date}${year}`)
    },
    async choose(target, option) {
      await go(target)
      await page.keyboard.type(option)
    },
  }
}

// The Tab key moves the focus to the selected radio button of a group, and arrow keys select another button.
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
    // In a date field, each part has a separate focus indicator.
    const isMarked =
      active.type === 'date' || (outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2)
    return {
      isTarget: active === element,
      unseen: isShown && isMarked ? undefined : active.outerHTML.slice(0, 200),
    }
  })
  expect(focus.unseen, 'the focused element is not visible').toBeUndefined()
  return focus.isTarget
}
