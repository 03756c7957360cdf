import type { Page } from 'playwright-core'

/** Returns the layout errors on a small screen, with touch input, and with text of twice the size. */
export const layoutErrors = async (page: Page): Promise<readonly string[]> => {
  await unfold(page)
  // At a zoom of 400 %, a window of 1,280 × 1,024 pixels has 320 × 256 CSS pixels.
  await page.setViewportSize({ width: 320, height: 256 })
  const narrow = [...(await tooWide(page)), ...(await covered(page))]
  const small = await tooSmall(page)
  await page.locator('html').evaluate((root) => {
    root.style.fontSize = '200%'
  })
  await page.setViewportSize({ width: 360, height: 740 })
  const onPhone = await tooWide(page)
  await page.setViewportSize({ width: 1280, height: 800 })
  const onDesktop = await tooWide(page)
  return [
    ...narrow.map((line) => `on a screen of 320 px, or at a zoom of 400 %, ${line}`),
    ...small.map((line) => `too small for a finger, ${line}`),
    ...onPhone.map((line) => `with text of twice the size on a phone, ${line}`),
    ...onDesktop.map((line) => `with text of twice the size on a desktop, ${line}`),
  ]
}

const unfold = (page: Page): Promise<void> =>
  page.locator('details').evaluateAll((all) => {
    for (const details of all) details.open = true
  })

/** Returns the elements that extend beyond the left or right edge of the screen. */
const tooWide = async (page: Page): Promise<readonly string[]> => {
  return page.locator('html').evaluate((root) => {
    const screen = root.clientWidth
    if (root.scrollWidth <= screen) return []
    return [...root.querySelectorAll('body *')]
      .filter((element) => {
        const { left, right } = element.getBoundingClientRect()
        return right > screen + 0.5 || left < -0.5
      })
      .map((element) => `${root.scrollWidth} px wide: ${element.outerHTML.slice(0, 120)}`)
  })
}

/** Returns the controls that another element covers, or that lie outside the screen, when they have the focus. */
const covered = (page: Page): Promise<readonly string[]> =>
  page
    .locator('a[href], button, summary, select, textarea, input:not([type=hidden])')
    .evaluateAll((all) => {
      const found: string[] = []
      const before = all[0]?.ownerDocument.activeElement
      for (const control of all) {
        // The keyboard does not reach a control with `tabindex="-1"`.
        if (control.getClientRects().length === 0 || control.tabIndex < 0) continue
        control.focus()
        const view = control.ownerDocument.defaultView
        const { left, right, top, bottom } = control.getClientRects()[0]
        const middle = (from: number, to: number, end: number): number =>
          (Math.max(from, 0) + Math.min(to, end)) / 2
        const x = middle(left, right, view.innerWidth)
        const y = middle(top, bottom, view.innerHeight)
        const above = control.ownerDocument.elementFromPoint(x, y)
        const isReached = above && (control.contains(above) || above.contains(control))
        if (!isReached) found.push(`covered: ${control.outerHTML.slice(0, 120)}`)
      }
      // A test may continue from the focused element.
      before?.focus()
      return found
    })

/** Returns the controls that are too small for touch input, except links within a sentence. */
const tooSmall = async (page: Page): Promise<readonly string[]> => {
  return page
    .locator('a, button, summary, select, textarea, input:not([type=hidden])')
    .evaluateAll((all) =>
      all
        .map((control) => control.closest('label') ?? control)
        .filter((target) => {
          const { width, height } = target.getBoundingClientRect()
          const isInSentence =
            target.localName === 'a' &&
            target.ownerDocument.defaultView.getComputedStyle(target).display === 'inline' &&
            [...target.parentElement.childNodes].some(
              (node) => node.nodeType === 3 && node.textContent.trim() !== '',
            )
          return width > 0 && Math.min(width, height) < 24 && !isInSentence
        })
        .map((target) => {
          const { width, height } = target.getBoundingClientRect()
          return `${Math.round(width)} × ${Math.round(height)} px: ${target.outerHTML.slice(0, 120)}`
        }),
    )
}
