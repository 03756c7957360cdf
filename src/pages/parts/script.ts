/** The script of the pages: copy buttons, times in the reader's time zone, and the form of a response to a client. */
export const pageScript: string = `'use strict'
const locale = document.documentElement.dataset.locale

for (const time of document.querySelectorAll('time[data-time]')) {
  const date = new Date(time.dateTime)
  const detail = time.dataset.time === 'minute' ? { timeStyle: 'short' } : {}
  time.title = time.textContent
  time.textContent = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', ...detail }).format(date)
}

const addCopyButton = (element) => {
  const { copy, copied } = element.dataset
  const button = document.createElement('button')
  const label = document.createElement('span')
  label.setAttribute('aria-live', 'polite')
  label.textContent = copy
  button.type = 'button'
  button.className = 'quiet copy'
  button.append(label)
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(element.textContent)
    label.textContent = copied
    setTimeout(() => {
      label.textContent = copy
    }, 2000)
  })
  element.after(button)
}

document.querySelector('form[data-submit]')?.submit()
if (navigator.clipboard) document.querySelectorAll('[data-copy]').forEach(addCopyButton)
`
