/** The script of the pages. For instance, it adds copy buttons and displays times in the reader's time zone. */
export const pageScript: string = `'use strict'

// A form of these pages may end on any site, so the content security policy does not limit the targets of forms. Send
// forms only to this server, so that injected markup cannot send what the user types to another site. Fields and forms
// can hide methods by their names, so do this first, and call the methods of the prototypes.
const attribute = (element, name) => Element.prototype.getAttribute.call(element, name)
const stayHere = (event) => {
  const { target, submitter } = event
  const address = (submitter && attribute(submitter, 'formaction')) ?? attribute(target, 'action')
  if (!URL.canParse(address, location) || new URL(address, location).origin !== location.origin)
    event.preventDefault()
}
const keepsForms = Document.prototype.querySelector.call(document, 'head[data-forms=own]') !== null
if (keepsForms) addEventListener('submit', stayHere, true)
else document.querySelector('form[data-submit]')?.submit()

// A second click would stop the first response on its way, for instance when a client has already used the code in it.
// Ignore the second click. After some seconds, the user may send the form again, because the connection may be lost.
let sent = new WeakMap()
addEventListener('submit', (event) => {
  const { target, timeStamp } = event
  if (event.defaultPrevented || attribute(target, 'method') !== 'post') return
  if (timeStamp - (sent.get(target) ?? -5000) < 5000) event.preventDefault()
  else sent.set(target, timeStamp)
})
addEventListener('pageshow', () => {
  sent = new WeakMap()
})

const { locale } = document.documentElement.dataset

for (const time of document.querySelectorAll('time[data-time]')) {
  const date = new Date(time.dateTime)
  const detail = time.dataset.time === 'minute' ? { timeStyle: 'short' } : {}
  time.title = time.textContent
  time.textContent = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', ...detail }).format(date)
}

for (const field of document.querySelectorAll('[data-time-zone]'))
  field.value = Intl.DateTimeFormat().resolvedOptions().timeZone

// If the form contains a day, the server ignores the selected choice, so clear the day when another choice is selected.
for (const choice of document.querySelectorAll('[name=expiry]:not([value=day])'))
  choice.addEventListener('change', () => {
    choice.form.elements.expires.value = ''
  })

// Remove the undo button at the end of the time that the page promises for undoing the action.
for (const form of document.querySelectorAll('form[data-seconds]'))
  setTimeout(() => form.querySelector('button').remove(), form.dataset.seconds * 1000)

const addCopyButton = (element) => {
  const { copy, copied, name } = element.dataset
  const button = document.createElement('button')
  const label = document.createElement('span')
  label.setAttribute('aria-live', 'polite')
  label.textContent = copy
  button.type = 'button'
  button.className = 'quiet copy'
  const about = document.createElement('span')
  about.className = 'for-screen-readers'
  about.textContent = ' ' + name
  button.append(label, about)
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(element.textContent)
    label.textContent = copied
    setTimeout(() => {
      label.textContent = copy
    }, 2000)
  })
  element.after(button)
}

// Screen readers announce only a status that is inserted after the page has loaded, so insert each status with a delay.
for (const status of document.querySelectorAll('[role=status]')) {
  const content = [...status.childNodes]
  status.style.minHeight = status.offsetHeight + 'px'
  status.replaceChildren()
  setTimeout(() => status.replaceChildren(...content), 100)
}

if (navigator.clipboard) document.querySelectorAll('[data-copy]').forEach(addCopyButton)
`
