import { counted } from './counted.ts'
import type { Messages } from './en.ts'

const count = counted('de')

export const de: Messages = {
  frame: {
    skip: 'Zum Inhalt springen',
    navigation: 'Konto',
    applications: 'Anwendungen',
    tokens: 'Token',
    clients: 'Meine Anwendungen',
    authorized: 'Zugelassene Anwendungen',
    sessions: 'Sitzungen',
    activity: 'Aktivität',
    leaked: 'Geheimnis bekannt',
    admin: 'Verwaltung',
    logout: 'Abmelden',
    copy: 'Kopieren',
    copied: 'Kopiert',
    next: 'Nächste Seite',
    previous: 'Vorherige Seite',
    first: 'Erste Seite',
    pages: 'Seiten',
    save: 'Änderungen speichern',
    cancel: 'Abbrechen',
    error: (title: string) => `Fehler: ${title}`,
    saveAnyway: 'Trotzdem speichern',
    confirmLosses: 'Noch wurde nichts gespeichert. Wenn du diese Änderungen speicherst:',
    conflict:
      'Während du das bearbeitet hast, wurde es in einem anderen Fenster geändert. Deshalb wurde nichts gespeichert. Deine Fassung steht noch im Formular. Wenn du sie speicherst, ersetzt sie die andere Fassung:',
    savedVersion: 'Inzwischen gespeichert',
    yourVersion: 'Deine Fassung',
    correct: 'Bitte korrigiere Folgendes:',
    line: (line: number, sentence: string) => `Zeile ${line}: ${sentence}`,
    kept: 'Ich habe es kopiert',
  },
  facts: {
    clientId: 'Client-ID',
    clientSecret: 'Client-Secret',
    type: 'Typ',
    confidential: 'Vertraulich',
    public: 'Öffentlich',
    verified: 'Verifiziert',
    disabled: 'Deaktiviert',
    selfRegistered: 'Selbst registriert',
    selfDescribed: 'Selbst beschrieben',
    pinned: 'Dokument fixiert',
    expired: 'Abgelaufen',
    created: 'Erstellt',
    users: 'Benutzer',
    moreThan: (count) => `mehr als ${count}`,
    expires: 'Läuft ab',
    never: 'Nie',
    expiresSoon: (time: string) => `Läuft ${time} ab`,
    endsWith: (end: string) => `endet mit ${end}`,
    lastUsed: 'Zuletzt verwendet',
    neverUsed: 'Noch nicht verwendet',
    from: (address: string) => `von ${address}`,
    owner: 'Registriert von',
    nobody: 'Niemand',
    website: 'Website',
    since: 'Zugelassen seit',
    permissions: 'Berechtigungen',
    noPermissions: 'Keine, außer zu wissen, wer du bist',
    read: 'Nur lesen',
    write: 'Kann ändern',
    highRisk: 'Hohes Risiko',
    otherGroup: 'Sonstiges',
    unknownBrowser: 'Unbekannter Browser oder unbekanntes Programm',
    words: (name: string) => `So beschreibt sich ${name} selbst:`,
  },
  login: {
    title: 'Anmelden',
    continueTo: (client: string) =>
      `${client} bittet um Zugriff auf dein Konto. Du entscheidest nach der Anmeldung.`,
    email: 'E-Mail-Adresse',
    password: 'Passwort',
    submit: 'Anmelden',
    wrong: 'Die E-Mail-Adresse oder das Passwort ist falsch.',
    tooMany:
      'Es wurden zu viele falsche Passwörter eingegeben. Warte zehn Minuten und versuche es dann noch einmal.',
    stale:
      'Diese Seite ist nicht mehr aktuell, zum Beispiel weil du dich in einem anderen Fenster an- oder abgemeldet hast. Bitte versuche es noch einmal.',
    noCookie:
      'Dein Browser hat kein Cookie gesendet. Erlaube Cookies für diese Website und versuche es noch einmal.',
    foreign: 'Dieses Formular wurde von einer anderen Website gesendet. Bitte melde dich hier an.',
    loggedOut:
      'Du wurdest abgemeldet, bevor das gespeichert war. Melde dich an: Das Formular enthält deine Eingaben noch.',
    dropsCookies:
      'Safari kann sich an einer Adresse, die mit http:// beginnt, nicht anmelden. Verwende einen anderen Browser wie Firefox oder Chrome, oder öffne diese Seite über https.',
    expired: 'Deine Sitzung ist abgelaufen. Melde dich wieder an, um fortzufahren.',
  },
  home: {
    title: 'Startseite',
    nobody: 'Niemand ist angemeldet.',
    user: 'Du bist angemeldet als',
    login: 'Anmelden',
    applications: 'Anwendungen und persönliche Token',
    aboutApplications:
      'Registriere Anwendungen, erstelle Token für deine eigenen Programme und sieh nach, wem du erlaubt hast, in deinem Namen zu handeln.',
    sessions: 'Sitzungen',
    aboutSessions: 'Sieh nach, wo du angemeldet bist, und melde dich anderswo ab.',
    admin: 'Verwaltung',
    aboutAdmin: 'Verwalte alle Anwendungen und Token.',
  },
  consent: {
    title: (client: string) => `${client} zulassen?`,
    asks: (client: string) =>
      `${client} möchte in deinem Namen handeln und bittet um diese Berechtigungen:`,
    nothing: (client: string) =>
      `${client} möchte wissen, dass du es bist. Weitere Berechtigungen erhält die Anwendung nicht.`,
    asksMore: (client: string) =>
      `${client} hat bereits Zugriff auf dein Konto und bittet nun zusätzlich um diese Berechtigungen:`,
    asksAgain: (client: string) => `${client} bittet erneut um das, was du bereits erlaubt hast:`,
    allowedBefore: 'Bereits erlaubt hast du:',
    optional: 'Was du nicht erlauben möchtest, kannst du abwählen.',
    user: 'Angemeldet als',
    otherAccount: 'Nicht du? Anderes Konto verwenden',
    owner: 'Registriert von',
    website: 'Website',
    destination: 'Weiterleitung zu',
    local: 'einem Programm auf genau diesem Computer',
    unverified: (brand: string) =>
      `Diese Anwendung wurde nicht von ${brand} geprüft. Lass sie nur zu, wenn du weißt, von wem sie stammt.`,
    selfRegistered: (brand: string) =>
      `Diese Anwendung hat sich selbst registriert. Bei ${brand} hat sie niemand geprüft: Ihr Name und alles andere, was sie von sich sagt, kann falsch sein. Lass sie nur zu, wenn du weißt, von wem sie stammt.`,
    selfDescribed: (host: string) =>
      `Diese Anwendung beschreibt sich selbst unter ${host}. Hier hat sie niemand geprüft: Ihr Name und alles andere, was sie von sich sagt, kann falsch sein. Lass sie nur zu, wenn du weißt, wer hinter dieser Adresse steht.`,
    localCaution:
      'Wenn du zustimmst, erhält ein Programm auf diesem Computer die Erlaubnis. Jedes Programm kann sich als diese Anwendung ausgeben: Lass sie nur zu, wenn du sie gerade selbst gestartet hast.',
    terms: 'Bedingungen',
    privacy: 'Datenschutz',
    mixesAlphabets:
      'Der Name enthält Buchstaben, die wie Buchstaben eines anderen Alphabets aussehen. Vergewissere dich, dass wirklich dahintersteht, wen du vermutest.',
    lasting: 'Wenn du zustimmst, gilt das, bis du es unter „Zugelassene Anwendungen“ widerrufst.',
    accept: 'Zulassen',
    undecided: 'Es wurde weder „Zulassen“ noch „Ablehnen“ gewählt. Wähle eines von beiden.',
    refuse: 'Ablehnen',
  },
  device: {
    title: 'Gerät verbinden',
    about: 'Dein Gerät oder Programm zeigt einen Code an. Gib ihn hier ein.',
    code: 'Code',
    codeHint: 'Acht Buchstaben, zum Beispiel WDJB-MJHT. Groß oder klein ist gleich.',
    submit: 'Weiter',
    wrong: 'Dieser Code ist nicht gültig: vertippt, abgelaufen oder schon verwendet.',
    tooMany:
      'Es wurden zu viele falsche Codes eingegeben. Warte zehn Minuten und hole dir dann auf deinem Gerät einen neuen Code.',
    warning:
      'Stimme nur zu, wenn du das gerade selbst auf einem deiner Geräte begonnen hast. Wenn dir jemand diesen Code oder einen Link geschickt hat, lehne ab: Sonst handelt diese Person in deinem Namen.',
    shows: 'Dein Gerät muss genau diesen Code anzeigen:',
    allowedTitle: 'Zugelassen',
    allowed: (client: string) => `${client} kann jetzt in deinem Namen handeln.`,
    goBack: 'Geh zurück zu deinem Gerät: Dort geht es in wenigen Sekunden von selbst weiter.',
    refusedTitle: 'Abgelehnt',
    refused: (client: string) => `${client} kann nichts in deinem Namen tun.`,
    close: 'Du kannst diese Seite schließen.',
  },
  applications: {
    title: 'Anwendungen',
    clients: {
      title: 'Meine Anwendungen',
      about:
        'Anwendungen, die du registriert hast. Sie können andere – und dich – um die Erlaubnis bitten, hier in ihrem Namen zu handeln.',
      none: 'Du hast noch keine Anwendung registriert.',
      invite:
        'Registriere eine, damit sich andere mit ihrem Konto bei diesem Dienst auf deiner Website oder in deinem Programm anmelden können.',
      create: 'Anwendung registrieren',
    },
    tokens: {
      title: 'Meine persönlichen Token',
      about:
        'Schlüssel für deine eigenen Skripte und Programme. Jedes Token handelt in deinem Namen, mit den Berechtigungen, die du ihm gegeben hast.',
      none: 'Du hast noch keine persönlichen Token.',
      invite:
        'Erstelle eines, um die API aus einem Skript, von der Kommandozeile oder aus einem anderen Programm zu nutzen.',
      create: 'Token erstellen',
      delete: 'Löschen',
      deleteNamed: (name: string) => `${name} löschen`,
      deleteSelected: 'Ausgewählte Token löschen',
      deleteSome: count({ one: '# Token löschen?', other: '# Token löschen?' }),
    },
    authorized: {
      title: 'Von mir zugelassene Anwendungen',
      about:
        'Anwendungen, die in deinem Namen handeln dürfen, weil du es erlaubt hast. Du kannst das jederzeit widerrufen.',
      none: 'Du hast noch keiner Anwendung erlaubt, in deinem Namen zu handeln.',
      invite:
        'Wenn du dich mit deinem Konto bei diesem Dienst auf einer anderen Website oder in einem anderen Programm anmeldest, erscheint der Eintrag in dieser Liste.',
      devices: count({ one: '# Gerät', other: '# Geräte' }),
      moreDevices: count({ one: 'und # weiteres Gerät', other: 'und # weitere Geräte' }),
      revoke: 'Widerrufen',
      revokeNamed: (name: string) => `Zugriff von ${name} widerrufen`,
      revokeSelected: 'Zugriff der ausgewählten Anwendungen widerrufen',
      revokeSome: count({
        one: 'Zugriff von # Anwendung widerrufen?',
        other: 'Zugriff von # Anwendungen widerrufen?',
      }),
      revokeSomeAbout:
        'Diese Anwendungen verlieren den Zugriff auf dein Konto, auf allen Geräten, und müssen dich erneut fragen. Das lässt sich nicht rückgängig machen.',
      revokeAll: 'Zugriff aller Anwendungen widerrufen',
      revokeAllAbout:
        'Keine Anwendung kann danach noch in deinem Namen handeln, auf keinem Gerät. Deine eigenen persönlichen Token bleiben bestehen.',
    },
  },
  list: {
    search: 'Suchen',
    searchHint: 'Ein Teil des Namens',
    order: 'Reihenfolge',
    orders: {
      newest: 'Neueste zuerst',
      oldest: 'Älteste zuerst',
      name: 'Nach Namen',
      expires: 'Bald ablaufende zuerst',
      used: 'Zuletzt verwendete zuerst',
      unused: 'Am längsten unbenutzte zuerst',
    },
    filter: 'Anzeigen',
    filters: {
      never_used: 'Nie verwendet',
      expiring: 'Läuft in einer Woche ab',
      expired: 'Abgelaufen',
      no_expiry: 'Ohne Ablaufdatum',
      confidential: 'Vertraulich',
      public: 'Öffentlich',
      verified: 'Verifiziert',
      disabled: 'Deaktiviert',
      unverified: 'Nicht verifiziert',
      unused: 'Ohne Token',
      self_registered: 'Selbst registriert',
    },
    everything: 'Alles',
    kind: 'Art',
    anyKind: 'Jede Art',
    kinds: {
      personal: 'Persönliche Token',
      access: 'Nur Zugriffstoken',
      refresh: 'Mit Aktualisierungstoken',
    },
    scope: 'Berechtigung',
    anyScope: 'Jede Berechtigung',
    apply: 'Anwenden',
    clear: 'Alles anzeigen',
    entries: count({ one: '# Eintrag', other: '# Einträge' }),
    found: (found: string, all: string) => `${found} von ${all}`,
    partial:
      'Diese Liste ist lang. Darum werden jeweils 1.000 Einträge durchsucht und sortiert. Die nächste Seite fährt mit den übrigen Einträgen fort.',
    nothing: 'Nichts gefunden.',
    nothingYet:
      'In diesen Einträgen wurde nichts gefunden. Die nächste Seite sucht in den älteren Einträgen weiter.',
    showAll: 'Alle ansehen',
    select: (name: string) => `${name} auswählen`,
    selectedNone: 'Wähle mindestens einen Eintrag der Liste aus.',
    undo: 'Rückgängig machen',
  },
  client: {
    newTitle: 'Anwendung registrieren',
    newAbout:
      'Eine registrierte Anwendung kann andere um die Erlaubnis bitten, hier in ihrem Namen zu handeln. Erkannt wird sie an ihrer Client-ID.',
    create: 'Anwendung registrieren',
    name: 'Name',
    nameHint: 'Wird angezeigt, wenn deine Anwendung um Berechtigungen bittet.',
    description: 'Beschreibung',
    descriptionHint: 'Optional. Was deine Anwendung tut und wofür sie Berechtigungen braucht.',
    website: 'Website',
    websiteHint: 'Optional. Hier erfährt man mehr; die Adresse beginnt mit https://',
    logoHint:
      'Optional. Die Adresse eines Bildes (PNG, JPEG, WebP oder GIF) mit höchstens 1024 × 1024 Pixeln und 100 KB; sie beginnt mit https://. Man sieht es, nachdem ein Administrator deine Anwendung verifiziert hat.',
    redirectUris: 'Weiterleitungs-URIs',
    redirectUrisHint:
      'Eine pro Zeile. Nach der Entscheidung geht es zu einer dieser Adressen zurück. Sie muss genau übereinstimmen und mit https:// beginnen (oder mit http:// auf deinem eigenen Computer).',
    logoutFields: 'Abmeldung (OpenID Connect)',
    postLogoutRedirectUris: 'Weiterleitungs-URIs nach der Abmeldung',
    postLogoutRedirectUrisHint:
      'Optional, eine pro Zeile. Nach einer Abmeldung, die deine Anwendung angefordert hat, geht es zu einer dieser Adressen zurück.',
    backchannelLogoutUri: 'URI für die Back-Channel-Abmeldung',
    backchannelLogoutUriHint:
      'Optional. Dieser Server schickt ein Logout-Token an diese Adresse, sobald die Anmeldung einer Person endet.',
    type: 'Typ',
    confidentialHint:
      'Sie läuft auf deinem Server und kann ein Geheimnis bewahren, zum Beispiel eine Webanwendung.',
    publicHint:
      'Andere können hineinsehen, zum Beispiel bei einer Mobil- oder Desktop-App oder einer Seite ohne Server. Sie hat kein Secret.',
    defaultScopes: 'Standardberechtigungen',
    defaultScopesHint:
      'Darum bittet deine Anwendung, wenn in ihrer Anfrage keine Berechtigungen angegeben sind. Ohne Benutzer, mit client_credentials, kann deine Anwendung nur diese erhalten.',
    optionalScopes: 'Optionale Berechtigungen',
    optionalScopesHint: 'Diese kann man abwählen und die übrigen trotzdem erlauben.',
    losses: {
      verification: 'Die Prüfung gilt nicht mehr. Die Anwendung muss neu geprüft werden.',
      secret: 'Das Client-Geheimnis wird ungültig.',
      tokens:
        'Alle Token der Anwendung werden ungültig, und sie muss von allen neu zugelassen werden.',
    },
    credentials: 'Zugangsdaten',
    secretKept:
      'Wurde einmal angezeigt, als es erstellt wurde. Falls du es verloren hast, erstelle unten ein neues.',
    secretOnce:
      'Kopiere das Client-Secret jetzt. Es wird nur dieses eine Mal angezeigt; wir können es nicht noch einmal anzeigen.',
    previousSecret: (time: string) => `Das vorherige Secret ist noch gültig bis ${time}.`,
    secretLeaked: (time: string) =>
      `Das Client-Secret wurde an einer Stelle gefunden, an der andere es lesen können. Es gilt nicht mehr seit ${time}: Erstelle unten ein neues.`,
    disabledAbout:
      'Die Administration hat diese Anwendung deaktiviert. Bis das zurückgenommen wird, werden sie und ihre Token abgewiesen.',
    tryIt: 'Ausprobieren',
    tryItStart: 'Ablauf starten, wie es deine Anwendung täte',
    tryItAbout:
      'Das führt zu der Seite, auf der über die Berechtigungen entschieden wird. Danach wirst du zu deiner Weiterleitungs-URI geschickt, mit einem Code in der Adresse.',
    tryItCurl:
      'Tausche den Code innerhalb einer Minute gegen ein Zugriffstoken. Setze den Code anstelle von CODE ein:',
    tryItCurlSecret:
      'Tausche den Code innerhalb einer Minute gegen ein Zugriffstoken. Setze den Code anstelle von CODE ein und das Client-Secret anstelle von SECRET:',
    settings: 'Einstellungen',
    reset: 'Neues Client-Secret',
    resetAbout:
      'Nutze dies, wenn das Secret anderen bekannt geworden sein könnte oder verloren ist.',
    overlap: 'Altes Secret bleibt gültig für',
    overlapHint: 'Zeit, um das alte durch das neue zu ersetzen.',
    resetSubmit: 'Neues Secret erstellen',
    delete: 'Diese Anwendung löschen',
    deleteAbout:
      'Alle ihre Token sind sofort ungültig, und wenn du sie wieder registrierst, muss sie von allen neu zugelassen werden. Das kann nicht rückgängig gemacht werden.',
    confirmName: (name: string) => `Gib zur Bestätigung den Namen der Anwendung ein: ${name}`,
    deleteSubmit: 'Anwendung löschen',
    kindLegend: 'Art der Anwendung',
    grants: 'Grant-Typen',
    endpoints: 'Endpunkte',
    endpointsAbout: 'Ein Client, der die Metadaten liest, findet dort die übrigen Adressen.',
    newTab: 'Öffnet sich in einem neuen Tab.',
    tryMachine: 'Fordere ein Zugriffstoken für die Anwendung selbst an:',
    tryMachineSecret:
      'Fordere ein Zugriffstoken für die Anwendung selbst an. Setze das Client-Secret anstelle von SECRET ein:',
    refusals: 'Letzte Ablehnungen',
    refusalsAbout:
      'Anfragen mit der Client-ID dieser Anwendung, die in den letzten sieben Tagen abgelehnt wurden, die neueste zuerst. Wer die Client-ID kennt, kann einen Eintrag verursachen.',
    kinds: {
      web: {
        name: 'Webanwendung',
        about:
          'Sie läuft auf deinem Server und bewahrt ein Geheimnis. Sie wird im Browser erlaubt.',
      },
      spa: {
        name: 'Einseitige Anwendung (SPA)',
        about: 'Sie läuft allein im Browser und hat darum kein Geheimnis. Sie verwendet PKCE.',
      },
      native: {
        name: 'Native Anwendung',
        about:
          'Sie läuft auf einem Telefon, einem Computer oder der Befehlszeile und hat darum kein Geheimnis. Sie verwendet PKCE, oder zeigt auf Geräten ohne Browser einen Code.',
      },
      machine: {
        name: 'Maschine',
        about:
          'Ein Programm auf deinem Server, das für sich selbst handelt, ohne andere Personen. Es braucht keine Weiterleitungs-URI.',
      },
    },
  },
  token: {
    newTitle: 'Persönliches Token erstellen',
    newAbout:
      'Ein Token ist wie ein Passwort für ein Programm: Wer es hat, kann tun, was du hier erlaubst. Erlaube nur, was das Programm braucht.',
    create: 'Token erstellen',
    name: 'Name',
    nameHint: 'Wofür es ist, damit du es später wiedererkennst.',
    expires: 'Ablaufdatum',
    expiresHint: 'Ein Token, das bald abläuft, richtet weniger Schaden an, wenn es gestohlen wird.',
    onDay: 'An einem Tag',
    onDayHint: 'Das Token ist bis zum Ende dieses Tages gültig.',
    onDayLast: (day: string) =>
      `Das Token ist bis zum Ende dieses Tages gültig, spätestens ${day}.`,
    until: (day: string) => `bis ${day}`,
    unchanged: 'Wie bisher',
    neverHint: 'Das Token ist gültig, bis du es löschst.',
    prefilled:
      'Ein Link hat dieses Formular ausgefüllt. Erstelle das Token nur, wenn du der Quelle des Links vertraust.',
    scopes: 'Berechtigungen',
    scopesHint:
      'Was ein Programm mit diesem Token in deinem Namen tun darf. Du kannst das später ändern.',
    noScopes: 'Hier gibt es nichts auszuwählen: Das Token sagt nur, wer du bist.',
    once: 'Kopiere das Token jetzt. Es wird nur dieses eine Mal angezeigt; wir können es nicht noch einmal anzeigen.',
    value: 'Persönliches Token',
    curl: 'Zum Ausprobieren führe dies auf der Kommandozeile aus:',
    expiredAbout:
      'Dieses Token ist abgelaufen und wird abgewiesen. Lösche es oder erstelle ein neues.',
    previous: (time: string) => `Der vorherige Wert ist noch gültig bis ${time}.`,
    endFormer: 'Den vorherigen Wert jetzt beenden',
    usesOnly: (used: string, total: number) =>
      `Verwendete Berechtigungen: nur ${used} von ${total}`,
    usesOnlyAbout:
      'Unbenutzte Berechtigungen nützen nur jemandem, der das Token stiehlt. Du kannst sie jederzeit wieder hinzufügen.',
    reduce: 'Nur die verwendeten Berechtigungen behalten',
    settings: 'Einstellungen',
    rotate: 'Neuer Wert',
    rotateAbout:
      'Das Token behält seinen Namen und seine Berechtigungen und bekommt einen neuen Wert. Nutze dies, wenn der Wert anderen bekannt geworden sein könnte oder verloren ist.',
    overlap: 'Alter Wert bleibt gültig für',
    overlapHint: 'Zeit, um den alten durch den neuen zu ersetzen.',
    rotateSubmit: 'Neuen Wert erstellen',
    delete: 'Dieses Token löschen',
    deleteAbout:
      'Programme, die dieses Token verwenden, verlieren sofort den Zugriff. Du kannst das zehn Sekunden lang rückgängig machen.',
    deleteSomeAbout:
      'Programme, die diese Token verwenden, verlieren sofort den Zugriff. Du kannst das zehn Sekunden lang rückgängig machen.',
    deleteSubmit: 'Token löschen',
  },
  overlap: { none: 'Keine Zeit: sofort ungültig' },
  authorization: {
    title: (client: string) => `Was ${client} darf`,
    device: 'Gerät',
    ends: 'Endet bei Nichtnutzung',
    permissions: 'Die Anwendung darf:',
    revoke: 'Auf diesem Gerät widerrufen',
    revokeAbout:
      'Die Anwendung wird auf diesem Gerät abgemeldet und kann dich erneut um Erlaubnis bitten.',
    revokeAll: 'Auf allen Geräten widerrufen',
    revokeAllAbout:
      'Die Anwendung wird überall abgemeldet und muss dich erneut um Erlaubnis bitten.',
  },
  sessions: {
    title: 'Sitzungen',
    about:
      'Browser, in denen du angemeldet bist. Wenn du einen nicht kennst, melde ihn ab und ändere dein Passwort.',
    current: 'Dieser Browser',
    address: 'IP-Adresse',
    since: 'Angemeldet seit',
    lastSeen: 'Zuletzt aktiv',
    end: 'Abmelden',
    endNamed: (browser: string) => `${browser} abmelden`,
    others: 'Überall sonst abmelden',
    othersAbout: 'Alle Browser außer diesem werden abgemeldet.',
    alone: 'Du bist nirgendwo sonst angemeldet.',
    ended: 'Kürzlich beendet',
    endedReasons: {
      logout: 'Du hast dich abgemeldet.',
      elsewhere: 'Du hast einen Browser von einem anderen Browser aus abgemeldet.',
      login: 'Eine neue Anmeldung im selben Browser hat die Sitzung ersetzt.',
      password: 'Das Passwort wurde geändert.',
      administrator: 'Ein Administrator hat dich abgemeldet.',
      limit: 'Es gab zu viele Anmeldungen: Die älteste Sitzung wurde beendet.',
    },
  },
  formPost: {
    title: 'Weiter zur Anwendung',
    sentence: 'Wenn sich die Anwendung nicht von selbst öffnet, klicke auf den Knopf.',
    submit: 'Weiter',
  },
  logout: {
    title: 'Abmelden?',
    asks: (client: string) => `${client} möchte dich abmelden.`,
    user: 'Du bist angemeldet als',
    submit: 'Abmelden',
    stay: 'Angemeldet bleiben',
    doneTitle: 'Du bist abgemeldet',
    done: 'Du bist hier nicht mehr angemeldet.',
    back: 'Zurück zur Anwendung',
  },
  userLinks: {
    reset_password: {
      title: 'Passwort vergessen?',
      about:
        'Gib deine E-Mail-Adresse ein. Du erhältst einen Link, mit dem du ein neues Passwort festlegen kannst.',
      openTitle: 'Neues Passwort festlegen',
      submit: 'Passwort festlegen',
      done: 'Dein Passwort wurde geändert. Melde dich mit dem neuen Passwort an.',
    },
    sign_up: {
      title: 'Konto erstellen',
      about:
        'Gib deine E-Mail-Adresse ein. Du erhältst einen Link, mit dem du dein Konto erstellen kannst.',
      openTitle: 'Konto erstellen',
      submit: 'Konto erstellen',
      done: 'Dein Konto wurde erstellt. Du kannst dich jetzt anmelden.',
    },
    verify_email: {
      openTitle: 'E-Mail-Adresse bestätigen',
      submit: 'Bestätigen',
      done: 'Deine E-Mail-Adresse ist bestätigt.',
      about: 'Du hast deine E-Mail-Adresse noch nicht bestätigt:',
    },
    request: 'Link senden',
    sent: (email) =>
      `Sieh in deinen E-Mails nach. Wenn die Adresse ${email} stimmt, erhältst du einen Link, der eine Stunde lang gültig ist.`,
    toLogin: 'Zurück zur Anmeldung',
    tooMany: 'Es wurden zu viele Links angefordert. Versuche es in zehn Minuten noch einmal.',
  },
  password: {
    title: 'Passwort ändern',
    about:
      'Danach bleibst du nur in diesem Browser angemeldet. Anwendungen und persönliche Token behalten ihren Zugriff.',
    current: 'Aktuelles Passwort',
    next: 'Neues Passwort',
    hint: (min: number) => `Mindestens ${min} Zeichen.`,
    submit: 'Passwort ändern',
  },
  activity: {
    title: 'Letzte Aktivität',
    about:
      'Was mit deinem Konto geschah. Wenn du etwas nicht wiedererkennst, ändere dein Passwort und widerrufe, was du nicht kennst.',
    none: 'Noch nichts.',
    from: 'Von',
    browser: 'Browser oder Programm',
    somebodyElse: 'Jemand anderes, zum Beispiel die Administration',
    since: 'Von Tag',
    until: 'Bis Tag',
    changes: 'Änderungen',
    download: 'Herunterladen',
    atMost: (count: string) => `Höchstens ${count} Ereignisse, die neuesten zuerst.`,
    emptyValue: 'leer',
  },
  events: {
    'login.succeeded': 'Angemeldet',
    'login.failed': 'Eine Anmeldung wurde abgelehnt',
    'session.ended': 'Abgemeldet',
    'consent.given': 'Einer Anwendung erlaubt, zu handeln',
    'consent.withdrawn': 'Einer Anwendung alles entzogen',
    'token.issued': 'Eine Anwendung hat ein Token bekommen',
    'id_token.issued': 'Bei einer Anwendung angemeldet',
    'token.refreshed': 'Eine Anwendung hat ihr Token erneuert',
    'token.revoked': 'Ein Token wurde widerrufen',
    'token.deleted': 'Token gelöscht',
    'refresh_token.reused': 'Ein altes Refresh-Token wurde noch einmal benutzt',
    'authorization_code.reused': 'Ein Code wurde zweimal benutzt',
    'device_code.reused': 'Ein Gerätecode wurde zweimal benutzt',
    'personal_token.created': 'Persönliches Token erstellt',
    'personal_token.edited': 'Persönliches Token geändert',
    'personal_token.rotated': 'Persönlichem Token einen neuen Wert gegeben',
    'personal_token.deleted': 'Persönliches Token gelöscht',
    'personal_token.restored': 'Persönliches Token wiederhergestellt',
    'client.created': 'Anwendung registriert',
    'client.edited': 'Anwendung geändert',
    'client.deleted': 'Anwendung gelöscht',
    'client.secret_reset': 'Neues Client-Secret erstellt',
    'client.registration_token_leaked': 'Bekannt gewordenes Registrierungstoken ungültig gemacht',
    'client.secret_leaked': 'Bekannt gewordenes Client-Secret ungültig gemacht',
    'client.id_reset': 'Neue Client-ID erstellt',
    'client.verified': 'Anwendung verifiziert',
    'client.unverified': 'Verifizierung zurückgenommen',
    'client.logo_changed': 'Logo einer Anwendung geladen',
    'client.disabled': 'Anwendung deaktiviert',
    'client.enabled': 'Anwendung aktiviert',
    'client.pinned': 'Dokument einer Anwendung fixiert',
    'client.unpinned': 'Fixierung eines Dokuments aufgehoben',
    'user.created': 'Benutzer angelegt',
    'user.activated': 'Benutzer aktiviert',
    'user.deactivated': 'Benutzer deaktiviert',
    'user.tokens_ended': 'Alle Tokens eines Benutzers beendet',
    'client.tokens_ended': 'Alle Tokens einer Anwendung beendet',
    'user.admin_granted': 'Benutzer zum Administrator gemacht',
    'user.admin_withdrawn': 'Benutzer ist kein Administrator mehr',
    'user.password_changed': 'Passwort geändert',
    'user.email_verified': 'E-Mail-Adresse bestätigt',
    'user.email_changed': 'E-Mail-Adresse geändert',
    'user.deleted': 'Benutzer gelöscht',
    'user.vanished': 'Daten eines nicht mehr vorhandenen Benutzers entfernt',
    'users.missing': 'Viele Benutzer nicht gefunden und nichts entfernt',
    'secret_key.rotated': 'Geheimen Schlüssel des Servers gewechselt',
    'signing_key.created': 'Neuen Signaturschlüssel erstellt',
  },
  admin: {
    title: 'Verwaltung',
    mostRefused: 'Am häufigsten abgelehnt',
    mostRefusedAbout:
      'Anwendungen, deren Anfragen in den letzten sieben Tagen am häufigsten abgelehnt wurden, mit den letzten Gründen. Jeder, der eine Client-ID kennt, kann einen Eintrag verursachen.',
    clients: 'Anwendungen',
    clientsAbout: 'Alle Anwendungen, die jemand registriert hat.',
    searchClients: 'Anwendungen suchen',
    searchClientsHint: 'Name, Client-ID oder Eigentümer',
    noClients: 'Keine Anwendung gefunden.',
    tokens: 'Token',
    tokensAbout: 'Alle Token, die ausgestellt wurden. Ihr Wert lässt sich nicht anzeigen.',
    searchTokens: 'Token suchen',
    searchTokensHint: 'E-Mail-Adresse, Client-ID oder Nummer des Tokens',
    noTokens: 'Kein Token gefunden.',
    search: 'Suchen',
    all: 'Alle anzeigen',
    activityAbout: 'Alles, was geändert hat, wer was darf, das Neueste zuerst.',
    event: 'Ereignis',
    allEvents: 'Alle Ereignisse',
    userHint: 'E-Mail-Adresse oder ID',
    noEvents: 'Es wurde kein Ereignis gefunden.',
    routine: 'Routineereignisse der letzten 24 Stunden',
    routineAbout:
      'Tokens, die Anwendungen für sich selbst angefordert, getauscht oder erneuert haben. Sie werden gezählt statt aufgelistet.',
    routineCount: 'Anzahl',
    grantType: 'Grant-Typ',
    token: 'Nummer des Tokens',
    request: 'Anfrage-ID',
    actors: {
      client: 'Eine Anwendung',
      command_line: 'Die Kommandozeile',
      system: 'Der Server',
      unknown: 'Unbekannt',
    },
    at: 'Wann',
    actor: 'Von',
    owner: 'Eigentümer',
    user: 'Benutzer',
    redirectUris: 'Weiterleitungs-URIs',
    personal: 'Persönliches Token',
    issued: 'Für eine Anwendung ausgestellt',
    tokensOfClient: 'Token dieser Anwendung',
    activityOfClient: 'Aktivitäten dieser Anwendung',
    verify: 'Verifizieren',
    unverify: 'Verifizierung zurücknehmen',
    logo: 'Logo',
    logoRequested: 'Der Server lädt das Logo. Lade die Seite in einigen Sekunden neu.',
    logoFailed: 'Das Logo konnte nicht geladen werden:',
    fetchLogo: 'Logo erneut laden',
    disable: 'Deaktivieren',
    enable: 'Aktivieren',
    pin: 'Dokument fixieren',
    unpin: 'Fixierung aufheben',
    defaultResource: 'Standardressource',
    noDefaultResource: 'Einstellung des Servers',
    delete: 'Löschen',
    deleteNamed: (name: string) => `${name} löschen`,
    deleteAbout:
      'Die Anwendung und alle ihre Token sind sofort weg. Das kann nicht rückgängig gemacht werden.',
    confirmName: (name: string) => `Gib zur Bestätigung den Namen ein: ${name}`,
  },
  users: {
    title: 'Benutzer',
    about: 'Finde Benutzer, sieh ihre Sitzungen, Token und Anwendungen, und beende sie.',
    search: 'Benutzer suchen',
    hint: 'Anfang der E-Mail-Adresse oder ID',
    exactHint: 'Vollständige E-Mail-Adresse oder ID',
    notSearchable: 'Deine Anwendung verwaltet ihre Benutzer und bietet hier keine Suche an.',
    none: 'Es wurde kein Benutzer gefunden.',
    inactive: 'Deaktiviert',
    administrator: 'Administrator',
    unverified: 'E-Mail-Adresse nicht bestätigt',
    id: 'Nummer (ID)',
    sessions: 'Sitzungen',
    noSessions: 'Nirgends angemeldet.',
    hostSessions: 'Deine Anwendung verwaltet die Anmeldungen: Melde den Benutzer dort ab.',
    tokens: 'Persönliche Tokens',
    noTokens: 'Keine persönlichen Tokens.',
    clients: 'Registrierte Anwendungen',
    noClients: 'Keine registrierten Anwendungen.',
    authorized: 'Erlaubte Anwendungen',
    noAuthorized: 'Keine erlaubten Anwendungen.',
    allActivity: 'Alle Aktivitäten dieses Benutzers',
    deactivate: {
      label: 'Den Benutzer deaktivieren',
      about:
        'Der Benutzer kann sich nicht mehr anmelden, und alle seine Tokens und Anwendungen werden abgewiesen, bis er wieder aktiviert wird.',
    },
    activate: {
      label: 'Den Benutzer aktivieren',
      about:
        'Der Benutzer kann sich wieder anmelden, und seine Tokens und Anwendungen funktionieren wieder.',
    },
  },
  leaked: {
    title: 'Ein Geheimnis ist bekannt geworden',
    about:
      'Füge ein Token, ein Client-Secret oder einen Code ein, den andere gesehen haben können. Du siehst, was es ist, und entscheidest, was damit geschieht.',
    aboutAdmin:
      'Füge ein Token, ein Client-Secret oder einen Code eines beliebigen Benutzers oder einer Anwendung ein, den andere gesehen haben können. Du siehst, was es ist, und entscheidest, was damit geschieht.',
    paste: 'Das bekannt gewordene Geheimnis',
    pasteHint:
      'Auch ein Header, ein ganzer curl-Befehl oder eine Zeile eines Protokolls ist möglich. Der Text wird weder gespeichert noch wieder angezeigt.',
    lookUp: 'Nachschlagen',
    again: 'Ein anderes Geheimnis nachschlagen',
    stale: 'Das Ergebnis ist nicht mehr gespeichert. Füge das Geheimnis noch einmal ein.',
    tooMany:
      'Es wurden zu viele unbekannte Geheimnisse eingefügt. Versuche es in einer Minute noch einmal.',
    kinds: {
      personal_token: 'Persönliches Token',
      access_token: 'Zugriffstoken von',
      refresh_token: 'Aktualisierungstoken von',
      client_secret: 'Client-Secret von',
      authorization_code: 'Autorisierungscode für',
      device_code: 'Gerätecode für',
      session: 'Sitzung eines Browsers',
      registration_token: 'Registrierungstoken von',
      user_link: 'Link per E-Mail an',
    },
    ending: 'Endet mit',
    valid: 'Funktioniert noch',
    ended: 'Funktioniert nicht mehr',
    application: 'Anwendung',
    bound: 'An einen Schlüssel gebunden',
    boundAbout: 'Ja: Ohne den Schlüssel der Anwendung ist es nutzlos.',
    history: 'Was geschehen ist',
    acts: {
      end: {
        label: 'Dieses Geheimnis beenden',
        about:
          'Es funktioniert sofort nicht mehr, und Programme, die es verwenden, verlieren den Zugriff. Das kann nicht rückgängig gemacht werden.',
      },
      endSecret: {
        label: 'Dieses Client-Secret beenden',
        about:
          'Die Anwendung kann sich erst wieder anmelden, wenn ihr Besitzer ein neues Geheimnis erzeugt hat.',
      },
      endSession: {
        label: 'Diesen Browser abmelden',
        about: 'Der Browser mit dieser Sitzung wird abgemeldet.',
      },
      endApplication: {
        label: 'Alle Tokens der Anwendung beenden',
        about:
          'Die Anwendung verliert den Zugriff auf alle Konten und muss jeden Benutzer neu fragen. Ihr Geheimnis bleibt gültig.',
      },
      revokeApplication: {
        label: 'Der Anwendung den Zugriff entziehen',
        about:
          'Die Anwendung verliert auf allen Geräten den Zugriff auf dein Konto und muss dich neu fragen.',
      },
      endUser: {
        label: 'Alle Tokens des Benutzers beenden',
        about:
          'Alle persönlichen Tokens des Benutzers funktionieren nicht mehr, und alle Anwendungen verlieren den Zugriff auf das Konto. Das kann nicht rückgängig gemacht werden.',
      },
      endMine: {
        label: 'Alle meine Tokens beenden',
        about:
          'Alle deine persönlichen Tokens funktionieren nicht mehr, und alle Anwendungen verlieren den Zugriff auf dein Konto. Das kann nicht rückgängig gemacht werden.',
      },
      disable: {
        label: 'Die Anwendung sperren',
        about:
          'Die Anwendung und alle ihre Tokens werden abgewiesen, bis ein Administrator sie wieder freigibt.',
      },
      logOut: {
        label: 'Den Benutzer überall abmelden',
        about: 'Alle Browser des Benutzers werden abgemeldet.',
      },
      logOutElsewhere: {
        label: 'Überall sonst abmelden',
        about: 'Alle deine Browser außer diesem werden abgemeldet.',
      },
    },
  },
  error: {
    title: 'Das hat nicht geklappt',
    known: {
      invalid_request: {
        what: 'Die Anwendung hat eine Anfrage gesendet, mit der sich nichts anfangen lässt. Das ist höchstwahrscheinlich ein Fehler der Anwendung, nicht deiner.',
        advice:
          'Geh zurück zur Anwendung und versuche es noch einmal. Wenn es wieder passiert, teile dem Anbieter der Anwendung mit, was unten steht.',
      },
      unauthorized_client: {
        what: 'Die Anwendung ist für das, was sie versucht hat, nicht eingerichtet. Das ist ein Fehler der Anwendung, nicht deiner.',
        advice: 'Teile dem Anbieter der Anwendung mit, was unten steht.',
      },
      unsupported_response_type: {
        what: 'Die Anwendung hat etwas verlangt, das dieser Server nicht anbietet. Das ist ein Fehler der Anwendung, nicht deiner.',
        advice: 'Teile dem Anbieter der Anwendung mit, was unten steht.',
      },
      invalid_scope: {
        what: 'Die Anwendung hat um eine Berechtigung gebeten, die sie nicht bekommen kann. Das ist ein Fehler der Anwendung, nicht deiner.',
        advice: 'Teile dem Anbieter der Anwendung mit, was unten steht.',
      },
      access_denied: {
        what: 'Die Erlaubnis wurde verweigert. Niemand hat einen Fehler gemacht: Die Anwendung darf nichts in deinem Namen tun.',
        advice:
          'Du kannst diese Seite schließen. Wenn du es dir anders überlegst, fang bei der Anwendung von vorn an.',
      },
      login_required: {
        what: 'Die Anwendung wollte weitermachen, ohne dass du dich anmeldest, und du bist hier nicht angemeldet. Es wurde nichts ausgeführt.',
        advice: 'Geh zurück zur Anwendung und fang von vorn an.',
      },
      server_error: {
        what: 'Bei uns ist etwas schiefgegangen. Das ist weder dein Fehler noch der der Anwendung.',
        advice: 'Geh zurück zur Anwendung und versuche es in ein paar Minuten noch einmal.',
      },
      temporarily_unavailable: {
        what: 'Der Dienst ist gerade nicht verfügbar. Das ist weder dein Fehler noch der der Anwendung.',
        advice: 'Geh zurück zur Anwendung und versuche es in ein paar Minuten noch einmal.',
      },
    },
    expired: {
      what: 'Die Anfrage der Anwendung ist abgelaufen oder wurde schon verwendet. Es wurde nichts geändert.',
      advice: 'Geh zurück zur Anwendung und fang von vorn an.',
    },
    unknown: {
      what: 'Die Anwendung und dieser Server konnten sich nicht verständigen. Das ist höchstwahrscheinlich ein Fehler der Anwendung, nicht deiner.',
      advice:
        'Geh zurück zur Anwendung und versuche es noch einmal. Wenn es wieder passiert, teile dem Anbieter der Anwendung mit, was unten steht.',
    },
    again: 'Geh zurück zur Anwendung und versuche es noch einmal.',
    onlyYou: 'Nur der Besitzer der Anwendung und Administratoren sehen das.',
    disabled: 'Ein Administrator hat die Anwendung gesperrt.',
    refusedUri: 'Weiterleitungs-URI der Anfrage',
    registeredUris: 'Registrierte Weiterleitungs-URIs',
    noUri: 'Keine',
    differs: 'Was abweicht',
    openClient: 'Anwendung öffnen',
    parts: {
      scheme: 'Das Schema, etwa http oder https',
      host: 'Der Host',
      port: 'Der Port',
      path: 'Der Pfad',
      trailingSlash: 'Der Schrägstrich am Ende des Pfads',
      letterCase: 'Groß- und Kleinschreibung',
      query: 'Die Abfrage nach ?',
      fragment: 'Der Teil nach #',
      character: 'Ein Zeichen, das in Adressen nicht erlaubt ist, gezeigt als U+…',
    },
    code: 'Fehlercode',
    details: 'Details',
    home: 'Zur Startseite',
  },
  problem: {
    atWork:
      'Dieses Formular wurde zweimal gesendet, und wir bearbeiten es noch. Sieh dir die Seite gleich noch einmal an.',
    staleLogout:
      'Diese Seite ist nicht mehr aktuell. Du wurdest deshalb nicht abgemeldet. Melde dich auf der Startseite ab.',
    title: 'Das hat nicht geklappt',
    stale: 'Diese Seite ist nicht mehr aktuell. Bitte entscheide noch einmal.',
    foreign: 'Dieses Formular gehört nicht zu deiner Sitzung. Es wurde nichts ausgeführt.',
    loggedOut: 'Du bist nicht mehr angemeldet. Geh zurück zur Anwendung und fang von vorn an.',
    decided:
      'Diese Anfrage wurde schon beantwortet oder ist abgelaufen. Geh zurück zur Anwendung und fang von vorn an.',
    askAgain: 'Anfrage noch einmal zeigen',
    clientChanged:
      'Die Anwendung wurde geändert oder ist nicht mehr da. Es wurde nichts ausgeführt.',
    notFound: 'Unter dieser Adresse gibt es nichts.',
    notFoundTitle: 'Nicht gefunden',
    failed: 'Bei uns ist etwas schiefgegangen. Bitte versuche es später noch einmal.',
    unavailable: 'Der Dienst ist gerade nicht verfügbar. Bitte versuche es gleich noch einmal.',
    wrongMethod:
      'Diese Adresse lässt sich so nicht verwenden. Geh zurück und versuche es noch einmal.',
    tooLarge: 'Was gesendet wurde, ist zu groß. Es wurde nichts ausgeführt.',
    badRequest: 'Was gesendet wurde, ist nicht lesbar. Es wurde nichts ausgeführt.',
    late: 'Diese Seite war zu lange offen. Es wurde nichts geändert. Zeig die Anfrage noch einmal an.',
    tooMany:
      'Das waren zu viele Anfragen. Es wurde nichts geändert. Warte ein paar Minuten und versuche es dann noch einmal.',
    linkInvalid:
      'Dieser Link ist nicht mehr gültig oder wurde schon verwendet. Fordere einen neuen Link an.',
  },
  problems: {
    usersElsewhere: 'Deine Anwendung verwaltet ihre Benutzer: Deaktiviere diesen Benutzer dort.',
    looksLikeSecret:
      'Das sieht wie ein Geheimnis aus. Eine Suche würde es in Adressen und Protokolle schreiben.',
    ownAccount: 'Das ist dein eigenes Konto: Nur ein anderer Administrator kann es deaktivieren.',
    credentialMissing: 'In diesem Text steht kein Geheimnis. Füge den ganzen Wert ein.',
    credentialsTooMany: 'Der Text ist zu lang. Füge nur die Zeile mit dem Geheimnis ein.',
    credentialUnknown:
      'Dieser Server kennt kein Geheimnis in diesem Text, oder es funktioniert nicht mehr.',
    credentialNotYours:
      'In diesem Text steht keines deiner Geheimnisse, oder es funktioniert nicht mehr.',
    notRotatable:
      'Dieses Token hat eine Berechtigung, die nur der Dienst selbst vergibt. Es kann hier deshalb keinen neuen Wert bekommen.',
    changedMeanwhile:
      'Die Anwendung wurde geändert, seit diese Seite geöffnet wurde. Sieh sie dir noch einmal an.',
    nameMissing: 'Gib einen Namen ein.',
    nameTooLong: (limit: number) => `Der Name darf höchstens ${limit} Zeichen lang sein.`,
    emailInvalid: 'Das ist keine E-Mail-Adresse.',
    emailUnseen:
      'Die Adresse enthält ein unsichtbares Zeichen. Tippe sie ein, statt sie einzufügen.',
    emailLookAlike:
      'Die Adresse enthält Buchstaben, die wie andere aussehen. Schreibe sie in einem einzigen Alphabet.',
    unseenCharacter:
      'Der Text enthält ein unsichtbares Zeichen. Tippe ihn ein, statt ihn einzufügen.',
    tooManyMarks: 'Ein Buchstabe trägt zu viele diakritische Zeichen.',
    descriptionTooLong: (limit: number) =>
      `Die Beschreibung darf höchstens ${limit} Zeichen lang sein.`,
    logoutUriInvalid:
      'Gib eine Adresse ein, die mit https:// beginnt und einen vollständigen Domainnamen hat, ohne Benutzernamen, Port und #. Oder lass das Feld leer.',
    websiteInvalid: 'Gib eine Adresse ein, die mit https:// beginnt, oder lass das Feld leer.',
    redirectUriTooLong: (limit: number) => `Die Adresse ist länger als ${limit} Zeichen.`,
    redirectUriFragment: 'Die Adresse darf kein # und nichts, was darauf folgt, enthalten.',
    redirectUriResponseParameter:
      'Die Adresse darf keinen Parameter enthalten, den unsere Antwort hinzufügt, etwa code oder state.',
    redirectUriCharacter: 'Die Adresse enthält ein Zeichen, das dort nicht vorkommen kann.',
    redirectUriPrivateUse:
      'Adressen mit eigenem Schema können nur öffentliche Anwendungen verwenden, und nur, wenn dieser Server es zulässt.',
    redirectUriInvalid: 'Das ist keine vollständige Adresse.',
    redirectUriNotHttps:
      'Die Adresse muss mit https:// beginnen. Nur auf deinem eigenen Computer darf sie mit http://localhost, http://127.0.0.1 oder http://[::1] beginnen.',
    tooManyClients: (limit: number) =>
      `Du kannst höchstens ${limit} Anwendungen registrieren. Lösche eine, die du nicht mehr brauchst.`,
    tooManyPersonalTokens: (limit: number) =>
      `Du kannst höchstens ${limit} persönliche Token haben. Lösche eines, das du nicht mehr brauchst.`,
    applicationTooLong:
      'Die Angaben dieser Anwendung sind zusammen zu lang. Kürze die Beschreibung oder entferne Weiterleitungs-URIs.',
    tooManyRedirectUris: (limit: number) => `Höchstens ${limit} Weiterleitungs-URIs sind möglich.`,
    scopeUnknown: (scope: string) =>
      `Die Berechtigung ${scope} gibt es nicht, oder sie kann nicht gewählt werden.`,
    undoTooLate:
      'Das lässt sich nicht mehr rückgängig machen, oder es wurde schon in einem anderen Fenster rückgängig gemacht.',
    draftLost:
      'Der Text des früheren Formulars ist nicht verfügbar: Er bleibt 20 Minuten für den erhalten, der ihn eingegeben hat, und wird einmal angezeigt.',
    expiredForGood:
      'Das Token ist abgelaufen, darum lässt sich sein Ablaufdatum nicht ändern. Erstelle einen neuen Wert.',
    expiresInvalid: 'Gib ein Datum ein, zum Beispiel 2030-01-31.',
    expiresInPast: 'Wähle ein Datum in der Zukunft.',
    expiresTooLate: (day: string) => `Wähle spätestens den ${day}.`,
    expiresMissing: (day: string) => `Wähle ein Datum, spätestens den ${day}.`,
    confirmName: 'Das ist nicht der Name. Es wurde nichts gelöscht.',
    passwordWrong: 'Das aktuelle Passwort ist falsch.',
    passwordTooShort: (limit: number) => `Das Passwort muss mindestens ${limit} Zeichen haben.`,
    passwordTooLong: 'Das Passwort ist zu lang.',
    overlapInvalid: 'Wähle eine der angebotenen Zeiten.',
    other: 'Das kann so nicht gespeichert werden. Bitte prüfe deine Eingaben.',
    stale:
      'Diese Seite ist nicht mehr aktuell, zum Beispiel weil du dich in einem anderen Fenster neu angemeldet hast. Es wurde nichts geändert. Prüfe deine Eingaben und sende sie noch einmal.',
    loggedOut:
      'Du warst abgemeldet, deshalb ist noch nichts gespeichert. Prüfe deine Eingaben und speichere sie.',
    redirectUrisMissing: 'Diese Art von Anwendung braucht mindestens eine Weiterleitungs-URI.',
    redirectUrisUnused:
      'Eine Maschine hat keine Weiterleitungs-URI. Lass das Feld leer, oder wähle eine andere Art.',
  },
  done: {
    userDeactivated: (name: string) => `${name} wurde deaktiviert.`,
    userActivated: (name: string) => `${name} wurde aktiviert.`,
    credentialEnded: 'Das Geheimnis funktioniert nicht mehr.',
    applicationTokensEnded: (name: string) => `Alle Tokens von „${name}“ wurden beendet.`,
    ownTokensEnded: 'Alle deine Tokens wurden beendet.',
    userTokensEnded: (name: string) => `Alle Tokens von ${name} wurden beendet.`,
    loggedOut: (name: string) => `${name} wurde überall abgemeldet.`,
    deviceRevoked: (name) => `${name} wurde auf diesem Gerät abgemeldet.`,
    clientCreated: 'Die Anwendung ist registriert.',
    clientSaved: 'Die Änderungen wurden gespeichert.',
    clientDeleted: (name: string) => `Die Anwendung „${name}“ wurde gelöscht.`,
    secretReset: 'Die Anwendung hat ein neues Secret.',
    tokenCreated: 'Das Token wurde erstellt.',
    tokenSaved: 'Die Änderungen wurden gespeichert.',
    tokenRotated: 'Das Token hat einen neuen Wert.',
    tokenDeleted: (name: string) => `Das Token „${name}“ wurde gelöscht.`,
    tokensDeleted: count({ one: '# Token wurde gelöscht.', other: '# Token wurden gelöscht.' }),
    tokensRestored: count({
      one: '# Token ist wieder gültig.',
      other: '# Token sind wieder gültig.',
    }),
    formerEnded: 'Der vorherige Wert ist nicht mehr gültig.',
    tokenReduced: 'Das Token hat nur noch die Berechtigungen, die es verwendet hat.',
    revokedSome: count({
      one: '# Anwendung kann nicht mehr in deinem Namen handeln.',
      other: '# Anwendungen können nicht mehr in deinem Namen handeln.',
    }),
    revoked: (name: string) => `„${name}“ kann nicht mehr in deinem Namen handeln.`,
    revokedAll: 'Keine Anwendung kann mehr in deinem Namen handeln.',
    sessionEnded: 'Der gewählte Browser wurde abgemeldet.',
    linkSent: (email) => `Ein Link wurde an ${email} gesendet. Er ist eine Stunde lang gültig.`,
    passwordChanged: 'Dein Passwort wurde geändert. Alle anderen Browser wurden abgemeldet.',
    otherSessionsEnded: 'Alle anderen Browser wurden abgemeldet.',
    logoRequested: (name: string) => `Das Logo von „${name}“ wird geladen.`,
    clientVerified: (name: string) => `„${name}“ wird als verifiziert angezeigt.`,
    clientUnverified: (name: string) => `„${name}“ wird nicht mehr als verifiziert angezeigt.`,
    clientDisabled: (name: string) =>
      `„${name}“ wurde deaktiviert: Die Anwendung und ihre Token werden abgewiesen.`,
    clientEnabled: (name: string) => `„${name}“ ist wieder aktiviert.`,
    clientPinned: (name: string) =>
      `„${name}“ ist fixiert: Das Dokument wird nicht mehr abgerufen.`,
    clientUnpinned: (name: string) =>
      `„${name}“ ist nicht mehr fixiert: Das Dokument wird wieder abgerufen.`,
    defaultResourceChanged: (name: string) => `Die Standardressource von „${name}“ wurde geändert.`,
  },
}
