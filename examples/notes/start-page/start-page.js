// Sends the call with the session and shows the response. /oauth/session.js adds the JWT of the session to the request.
for (const place of document.querySelectorAll('[data-call]')) {
  const response = await fetch(place.dataset.call)
  const text = await response.text()
  const badge = document.createElement('span')
  badge.className = `badge ${response.ok ? 'good' : 'bad'}`
  badge.textContent = String(response.status)
  const status = document.createElement('p')
  status.className = 'status'
  status.append(badge, response.ok ? ' Answered just now' : ' Refused just now')
  const body = document.createElement('code')
  body.textContent = formatted(text)
  const answer = document.createElement('pre')
  answer.className = 'answer'
  answer.tabIndex = 0
  answer.role = 'group'
  answer.ariaLabel = 'Answer'
  answer.append(body)
  place.replaceChildren(status, answer)
}

// Writes each item of a list on one line, like the answers to the other callers.
function formatted(text) {
  try {
    const value = JSON.parse(text)
    return Array.isArray(value) && value.length > 0
      ? `[\n${value.map((item) => `  ${JSON.stringify(item)}`).join(',\n')}\n]`
      : JSON.stringify(value, null, 2)
  } catch {
    return text
  }
}
