import { counted } from './counted.ts'
import type { Messages } from './en.ts'

const count = counted('it')

export const it: Messages = {
  frame: {
    skip: 'Vai al contenuto',
    navigation: 'Account',
    applications: 'Applicazioni',
    tokens: 'Token',
    clients: 'Le mie applicazioni',
    authorized: 'Applicazioni autorizzate',
    sessions: 'Sessioni',
    activity: 'Attività',
    leaked: 'Segreto trapelato',
    admin: 'Amministrazione',
    logout: 'Esci',
    copy: 'Copia',
    copied: 'Copiato',
    next: 'Pagina successiva',
    previous: 'Pagina precedente',
    first: 'Prima pagina',
    pages: 'Pagine',
    save: 'Salva le modifiche',
    cancel: 'Annulla',
    error: (title: string) => `Errore: ${title}`,
    saveAnyway: 'Salva comunque',
    confirmLosses: 'Non è stato ancora salvato nulla. Se salvi queste modifiche:',
    conflict:
      'Durante la modifica, i dati sono stati cambiati in un’altra finestra, quindi non è stato salvato nulla. La tua versione è ancora nel modulo. Se la salvi, sostituisce l’altra versione:',
    savedVersion: 'Salvato nel frattempo',
    yourVersion: 'La tua versione',
    correct: 'Correggi quanto segue:',
    line: (line: number, sentence: string) => `Riga ${line}: ${sentence}`,
    kept: 'L’ho copiato',
  },
  facts: {
    clientId: 'ID client',
    clientSecret: 'Client secret',
    type: 'Tipo',
    confidential: 'Confidenziale',
    public: 'Pubblica',
    verified: 'Verificata',
    disabled: 'Disattivata',
    selfRegistered: 'Registrata da sé',
    selfDescribed: 'Descritta da sé',
    pinned: 'Documento bloccato',
    expired: 'Scaduto',
    created: 'Creazione',
    users: 'Utenti',
    moreThan: (count) => `più di ${count}`,
    expires: 'Scadenza',
    never: 'Mai',
    expiresSoon: (time: string) => `Scade ${time}`,
    endsWith: (end: string) => `termina con ${end}`,
    lastUsed: 'Ultimo utilizzo',
    neverUsed: 'Nessuno finora',
    from: (address: string) => `da ${address}`,
    owner: 'Registrata da',
    nobody: 'Nessuno',
    website: 'Sito web',
    since: 'Data di autorizzazione',
    permissions: 'Autorizzazioni',
    noPermissions: 'Nessuna, tranne sapere chi sei',
    read: 'Sola lettura',
    write: 'Può modificare',
    highRisk: 'Rischio elevato',
    otherGroup: 'Altro',
    unknownBrowser: 'Browser o programma sconosciuto',
    words: (name: string) => `Come si presenta ${name}:`,
  },
  login: {
    title: 'Accedi',
    continueTo: (client: string) =>
      `${client} chiede l’accesso al tuo account. Decidi dopo aver effettuato l’accesso.`,
    email: 'Indirizzo email',
    password: 'Password',
    submit: 'Accedi',
    wrong: 'L’indirizzo email o la password non sono corretti.',
    tooMany: 'Sono state inserite troppe password errate. Aspetta dieci minuti, poi riprova.',
    stale:
      'Questa pagina non è più aggiornata, per esempio perché hai effettuato l’accesso o sei uscito in un’altra finestra. Riprova.',
    noCookie:
      'Il tuo browser non ha inviato alcun cookie. Consenti i cookie per questo sito e riprova.',
    foreign: 'Questo modulo è stato inviato da un altro sito. Accedi da qui.',
    loggedOut:
      'La sessione è terminata prima del salvataggio. Accedi: il modulo contiene ancora ciò che hai inserito.',
    dropsCookies:
      'Safari non può accedere a un indirizzo che inizia con http://. Usa un altro browser, come Firefox o Chrome, oppure apri questo sito con https.',
    expired: 'La tua sessione è scaduta. Accedi di nuovo per continuare.',
  },
  home: {
    title: 'Pagina iniziale',
    nobody: 'Nessuno ha effettuato l’accesso.',
    user: 'Hai effettuato l’accesso come',
    login: 'Accedi',
    applications: 'Applicazioni e token personali',
    aboutApplications:
      'Registra applicazioni, crea token per i tuoi programmi e controlla a chi hai permesso di agire per tuo conto.',
    sessions: 'Sessioni',
    aboutSessions: 'Controlla dove hai effettuato l’accesso ed esci dagli altri dispositivi.',
    admin: 'Amministrazione',
    aboutAdmin: 'Gestisci tutte le applicazioni e tutti i token.',
  },
  consent: {
    title: (client: string) => `Vuoi autorizzare ${client}?`,
    asks: (client: string) => `${client} vuole agire per tuo conto e chiede queste autorizzazioni:`,
    nothing: (client: string) =>
      `${client} vuole sapere che sei proprio tu. Non ottiene altre autorizzazioni.`,
    asksMore: (client: string) =>
      `${client} ha già accesso al tuo account e ora chiede anche queste autorizzazioni:`,
    asksAgain: (client: string) => `${client} chiede di nuovo ciò che hai già autorizzato:`,
    allowedBefore: 'Hai già autorizzato:',
    optional: 'Puoi deselezionare ciò che non vuoi autorizzare.',
    user: 'Hai effettuato l’accesso come',
    otherAccount: 'Non sei tu? Usa un altro account',
    owner: 'Registrata da',
    website: 'Sito web',
    destination: 'Reindirizzamento a',
    local: 'un programma su questo stesso computer',
    unverified: (brand: string) =>
      `Questa applicazione non è stata verificata da ${brand}. Autorizzala solo se sai chi la offre.`,
    selfRegistered: (brand: string) =>
      `Questa applicazione si è registrata da sola. Nessuno di ${brand} l’ha verificata: il suo nome e tutto ciò che dice di sé possono essere falsi. Autorizzala solo se sai chi la offre.`,
    selfDescribed: (host: string) =>
      `Questa applicazione si descrive da sola all’indirizzo ${host}. Qui nessuno l’ha verificata: il suo nome e tutto ciò che dice di sé possono essere falsi. Autorizzala solo se sai chi c’è dietro quell’indirizzo.`,
    localCaution:
      'Se la autorizzi, l’autorizzazione andrà a un programma su questo computer. Qualsiasi programma può spacciarsi per questa applicazione: autorizzala solo se l’hai appena avviata tu.',
    terms: 'Condizioni d’uso',
    privacy: 'Informativa sulla privacy',
    mixesAlphabets:
      'Il nome contiene lettere che somigliano a quelle di un altro alfabeto. Assicurati che sia davvero chi pensi.',
    lasting:
      'Se la autorizzi, potrà agire finché non revocherai l’autorizzazione in «Applicazioni autorizzate».',
    accept: 'Autorizza',
    undecided: 'Non è stato scelto né «Autorizza» né «Rifiuta». Scegline uno.',
    refuse: 'Rifiuta',
  },
  device: {
    title: 'Collega un dispositivo',
    about: 'Il tuo dispositivo o programma mostra un codice. Inseriscilo qui.',
    code: 'Codice',
    codeHint: 'Otto lettere, ad esempio WDJB-MJHT, maiuscole o minuscole.',
    submit: 'Continua',
    wrong: 'Questo codice non è valido. Forse è stato scritto male, è scaduto o è già stato usato.',
    tooMany:
      'Sono stati inseriti troppi codici errati. Aspetta dieci minuti, poi richiedi un nuovo codice sul tuo dispositivo.',
    warning:
      'Autorizza solo se hai appena avviato tu l’operazione, su un tuo dispositivo. Se qualcuno ti ha inviato questo codice o un link, rifiuta: quella persona agirebbe per tuo conto.',
    shows: 'Il tuo dispositivo deve mostrare esattamente questo codice:',
    allowedTitle: 'Accesso autorizzato',
    allowed: (client: string) => `${client} ora può agire per tuo conto.`,
    goBack: 'Torna al tuo dispositivo: proseguirà da solo tra pochi secondi.',
    refusedTitle: 'Accesso rifiutato',
    refused: (client: string) => `${client} non può fare nulla per tuo conto.`,
    close: 'Puoi chiudere questa pagina.',
  },
  applications: {
    title: 'Applicazioni',
    clients: {
      title: 'Le mie applicazioni',
      about:
        'Le applicazioni che hai registrato. Possono chiedere ad altre persone, e a te, l’autorizzazione ad agire qui per loro conto.',
      none: 'Non hai ancora registrato nessuna applicazione.',
      invite:
        'Registrane una e chiunque potrà accedere al tuo sito o programma con il proprio account su questo servizio.',
      create: 'Registra un’applicazione',
    },
    tokens: {
      title: 'I miei token personali',
      about:
        'Chiavi per i tuoi script e programmi. Ogni token agisce per tuo conto, entro le autorizzazioni che hai scelto.',
      none: 'Non hai ancora token personali.',
      invite:
        'Creane uno per usare l’API da uno script, dalla riga di comando o da un altro programma.',
      create: 'Crea un token',
      delete: 'Elimina',
      deleteNamed: (name: string) => `Elimina ${name}`,
      deleteSelected: 'Elimina i token selezionati',
      deleteSome: count({ one: 'Eliminare # token?', other: 'Eliminare # token?' }),
    },
    authorized: {
      title: 'Applicazioni che ho autorizzato',
      about:
        'Applicazioni che possono agire per tuo conto perché lo hai autorizzato. Puoi revocare l’autorizzazione in qualsiasi momento.',
      none: 'Non hai autorizzato nessuna applicazione ad agire per tuo conto.',
      invite:
        'Quando accederai a un altro sito o programma con il tuo account su questo servizio, lo troverai in questo elenco.',
      devices: count({ one: '# dispositivo', other: '# dispositivi' }),
      moreDevices: count({ one: 'e # altro dispositivo', other: 'e # altri dispositivi' }),
      revoke: 'Revoca',
      revokeNamed: (name: string) => `Revoca ${name}`,
      revokeSelected: 'Revoca le applicazioni selezionate',
      revokeSome: count({ one: 'Revocare # applicazione?', other: 'Revocare # applicazioni?' }),
      revokeSomeAbout:
        'Queste applicazioni perdono l’accesso al tuo account, su tutti i dispositivi, e dovranno chiederti di nuovo l’autorizzazione. L’operazione non può essere annullata.',
      revokeAll: 'Revoca tutte le applicazioni',
      revokeAllAbout:
        'Nessuna applicazione potrà più agire per tuo conto, su nessun dispositivo. I tuoi token personali restano.',
    },
  },
  list: {
    search: 'Cerca',
    searchHint: 'Una parte del nome',
    order: 'Ordine',
    orders: {
      newest: 'Prima i più recenti',
      oldest: 'Prima i più vecchi',
      name: 'Per nome',
      expires: 'Prima quelli in scadenza',
      used: 'Prima quelli usati di recente',
      unused: 'Prima quelli non usati da più tempo',
    },
    filter: 'Mostra',
    filters: {
      never_used: 'Mai usati',
      expiring: 'In scadenza entro una settimana',
      expired: 'Scaduti',
      no_expiry: 'Senza scadenza',
      confidential: 'Confidenziali',
      public: 'Pubbliche',
      verified: 'Verificate',
      disabled: 'Disattivate',
      unverified: 'Non verificate',
      unused: 'Senza token',
      self_registered: 'Registrate da sé',
    },
    everything: 'Tutto',
    kind: 'Tipo',
    anyKind: 'Qualsiasi tipo',
    kinds: {
      personal: 'Token personali',
      access: 'Solo token di accesso',
      refresh: 'Con token di aggiornamento',
    },
    scope: 'Autorizzazione',
    anyScope: 'Qualsiasi autorizzazione',
    apply: 'Applica',
    clear: 'Mostra tutto',
    entries: count({ one: '# elemento', other: '# elementi' }),
    found: (found: string, all: string) => `${found} di ${all}`,
    partial:
      'Questo elenco è lungo, quindi vengono cercati e ordinati 1.000 elementi alla volta. La pagina successiva continua con gli altri elementi.',
    nothing: 'Nessun risultato.',
    nothingYet:
      'Nessun risultato tra questi elementi. La pagina successiva continua con gli elementi meno recenti.',
    showAll: 'Vedi tutto',
    select: (name: string) => `Seleziona ${name}`,
    selectedNone: 'Seleziona almeno un elemento dell’elenco.',
    undo: 'Annulla l’eliminazione',
  },
  client: {
    newTitle: 'Registra un’applicazione',
    newAbout:
      'Un’applicazione registrata può chiedere alle persone l’autorizzazione ad agire qui per loro conto. Si riconosce dal suo ID client.',
    create: 'Registra l’applicazione',
    name: 'Nome',
    nameHint: 'Ciò che si legge quando la tua applicazione chiede un’autorizzazione.',
    description: 'Descrizione',
    descriptionHint:
      'Facoltativa. Che cosa fa la tua applicazione e perché ha bisogno di autorizzazioni.',
    website: 'Sito web',
    websiteHint: 'Facoltativo. Dove saperne di più; l’indirizzo inizia con https://',
    logoHint:
      'Facoltativo. L’indirizzo https:// di un’immagine PNG, JPEG, WebP o GIF di al massimo 1024 × 1024 pixel e 100 KB. È visibile dopo che un amministratore ha verificato la tua applicazione.',
    redirectUris: 'URI di reindirizzamento',
    redirectUrisHint:
      'Uno per riga. Dopo aver deciso, si torna a uno di questi indirizzi. L’indirizzo deve essere esatto e iniziare con https:// (o con http:// sul tuo computer).',
    logoutFields: 'Disconnessione (OpenID Connect)',
    postLogoutRedirectUris: 'URI di reindirizzamento dopo la disconnessione',
    postLogoutRedirectUrisHint:
      'Facoltativi, uno per riga. Dopo una disconnessione richiesta dalla tua applicazione, si torna a uno di questi indirizzi.',
    backchannelLogoutUri: 'URI di disconnessione back-channel',
    backchannelLogoutUriHint:
      'Facoltativo. Questo server invia un token di disconnessione a questo indirizzo quando termina la sessione di una persona.',
    type: 'Tipo',
    confidentialHint:
      'Viene eseguita su un tuo server e può custodire un segreto, come un’applicazione web.',
    publicHint:
      'Altre persone possono vederne il contenuto, come un’app per telefono o desktop, o una pagina senza server. Non ha un secret.',
    defaultScopes: 'Autorizzazioni predefinite',
    defaultScopesHint:
      'Ciò che la tua applicazione chiede se la sua richiesta non lo specifica. Senza utente, con client_credentials, la tua applicazione può ottenere solo queste.',
    optionalScopes: 'Autorizzazioni facoltative',
    optionalScopesHint: 'Si possono deselezionare, concedendo comunque le altre.',
    losses: {
      verification:
        'La verifica termina. Un amministratore dovrà verificare di nuovo l’applicazione.',
      secret: 'Il client secret non sarà più valido.',
      tokens:
        'Tutti i token dell’applicazione non saranno più validi e occorrerà autorizzarla di nuovo.',
    },
    credentials: 'Credenziali',
    secretKept:
      'Mostrato una sola volta, alla creazione. Se lo hai perso, creane uno nuovo qui sotto.',
    secretOnce:
      'Copia ora il client secret. Viene mostrato solo questa volta e non potremo mostrartelo di nuovo.',
    previousSecret: (time: string) => `Il secret precedente è ancora valido. Scadenza: ${time}.`,
    secretLeaked: (time: string) =>
      `Il secret è stato trovato in un luogo dove altri possono leggerlo e non funziona più. Momento: ${time}. Creane uno nuovo qui sotto.`,
    disabledAbout:
      'Un amministratore ha disattivato questa applicazione. Finché non viene riattivata, l’applicazione e i suoi token vengono rifiutati.',
    tryIt: 'Prova',
    tryItStart: 'Avvia il flusso come farebbe la tua applicazione',
    tryItAbout:
      'Si apre la pagina in cui le persone decidono. Poi arrivi al tuo URI di reindirizzamento, con un codice nell’indirizzo.',
    tryItCurl:
      'Entro un minuto, scambia il codice con un token di accesso. Metti il codice al posto di CODE:',
    tryItCurlSecret:
      'Entro un minuto, scambia il codice con un token di accesso. Metti il codice al posto di CODE e il client secret al posto di SECRET:',
    settings: 'Impostazioni',
    reset: 'Nuovo client secret',
    resetAbout: 'Fallo se altri potrebbero conoscere il secret o se è andato perso.',
    overlap: 'Mantieni valido il vecchio secret per',
    overlapHint: 'Il tempo di mettere quello nuovo al posto di quello vecchio.',
    resetSubmit: 'Crea un nuovo secret',
    delete: 'Elimina questa applicazione',
    deleteAbout:
      'Tutti i suoi token smettono subito di funzionare e, se la registri di nuovo, tutti dovranno autorizzarla un’altra volta. L’operazione non può essere annullata.',
    confirmName: (name: string) => `Per confermare, digita il nome dell’applicazione: ${name}`,
    deleteSubmit: 'Elimina l’applicazione',
    kindLegend: 'Genere di applicazione',
    grants: 'Flussi consentiti',
    endpoints: 'Endpoint',
    endpointsAbout: 'Un client che legge i metadati vi trova gli altri indirizzi.',
    newTab: 'Si apre in una nuova scheda.',
    tryMachine: 'Richiedi un token di accesso per l’applicazione stessa:',
    tryMachineSecret:
      'Richiedi un token di accesso per l’applicazione stessa. Sostituisci SECRET con il segreto del client:',
    refusals: 'Ultimi rifiuti',
    refusalsAbout:
      'Richieste con l’ID client di questa applicazione rifiutate negli ultimi sette giorni, la più recente per prima. Chiunque conosca l’ID client può causare una voce.',
    kinds: {
      web: {
        name: 'Applicazione web',
        about:
          'Viene eseguita sul tuo server e custodisce un segreto. La si autorizza nel browser.',
      },
      spa: {
        name: 'Applicazione a pagina singola',
        about: 'Viene eseguita solo nel browser, quindi non ha un segreto. Usa PKCE.',
      },
      native: {
        name: 'Applicazione nativa',
        about:
          'Viene eseguita su un telefono, un computer o dalla riga di comando, quindi non ha un segreto. Usa PKCE, oppure mostra un codice sui dispositivi senza browser.',
      },
      machine: {
        name: 'Macchina',
        about:
          'Un programma sul tuo server che agisce per sé stesso, senza altre persone. Non ha bisogno di un URI di reindirizzamento.',
      },
    },
  },
  token: {
    newTitle: 'Crea un token personale',
    newAbout:
      'Un token è come una password per un programma: chi lo possiede può fare ciò che autorizzi qui. Autorizza solo ciò che serve al programma.',
    create: 'Crea il token',
    name: 'Nome',
    nameHint: 'A che cosa serve, per riconoscerlo in seguito.',
    expires: 'Scadenza',
    expiresHint: 'Un token che scade presto fa meno danni se viene rubato.',
    onDay: 'In una data',
    onDayHint: 'Il token è valido fino alla fine di questo giorno.',
    onDayLast: (day: string) =>
      `Il token è valido fino alla fine di questo giorno, non oltre il ${day}.`,
    until: (day: string) => `fino al ${day}`,
    unchanged: 'Nessuna modifica',
    neverHint: 'Il token è valido finché non lo elimini.',
    prefilled:
      'Un link ha compilato questo modulo. Crea il token solo se ti fidi di chi ha fornito il link.',
    scopes: 'Autorizzazioni',
    scopesHint:
      'Ciò che un programma con questo token può fare per tuo conto. Puoi cambiarlo in seguito.',
    noScopes: 'Non c’è nulla da scegliere: il token dice chi sei.',
    once: 'Copia ora il token. Viene mostrato solo questa volta e non potremo mostrartelo di nuovo.',
    value: 'Token personale',
    curl: 'Per provarlo, esegui questo nella riga di comando:',
    expiredAbout: 'Questo token è scaduto e viene rifiutato. Eliminalo o creane uno nuovo.',
    previous: (time: string) => `Il valore precedente è ancora valido. Scadenza: ${time}.`,
    endFormer: 'Termina ora il valore precedente',
    usesOnly: (used: string, total: number) => `Autorizzazioni usate: solo ${used} su ${total}`,
    usesOnlyAbout:
      'Le autorizzazioni non usate servono solo a chi ruba il token. Puoi aggiungerle di nuovo in qualsiasi momento.',
    reduce: 'Mantieni solo le autorizzazioni usate',
    settings: 'Impostazioni',
    rotate: 'Nuovo valore',
    rotateAbout:
      'Il token mantiene il nome e le autorizzazioni e riceve un nuovo valore. Fallo se altri potrebbero conoscere il valore o se è andato perso.',
    overlap: 'Mantieni valido il vecchio valore per',
    overlapHint: 'Il tempo di mettere quello nuovo al posto di quello vecchio.',
    rotateSubmit: 'Crea un nuovo valore',
    delete: 'Elimina questo token',
    deleteAbout:
      'I programmi che usano questo token perdono subito l’accesso. Puoi annullare per dieci secondi.',
    deleteSomeAbout:
      'I programmi che usano questi token perdono subito l’accesso. Puoi annullare per dieci secondi.',
    deleteSubmit: 'Elimina il token',
  },
  overlap: { none: 'Nessun periodo: scade subito' },
  authorization: {
    title: (client: string) => `Che cosa può fare ${client}`,
    device: 'Dispositivo',
    ends: 'Termine in caso di inutilizzo',
    permissions: 'L’applicazione può:',
    revoke: 'Revoca su questo dispositivo',
    revokeAbout:
      'L’applicazione viene disconnessa su questo dispositivo e può chiederti di nuovo l’autorizzazione.',
    revokeAll: 'Revoca su tutti i dispositivi',
    revokeAllAbout:
      'L’applicazione viene disconnessa ovunque e deve chiederti di nuovo l’autorizzazione.',
  },
  sessions: {
    title: 'Sessioni',
    about:
      'I browser in cui hai effettuato l’accesso. Se non ne riconosci uno, disconnettilo e cambia la password.',
    current: 'Questo browser',
    address: 'Indirizzo IP',
    since: 'Accesso',
    lastSeen: 'Ultima attività',
    end: 'Disconnetti',
    endNamed: (browser: string) => `Disconnetti ${browser}`,
    others: 'Disconnetti tutti gli altri',
    othersAbout: 'Tutti i browser tranne questo vengono disconnessi.',
    alone: 'Non hai effettuato l’accesso da nessun’altra parte.',
    ended: 'Terminate di recente',
    endedReasons: {
      logout: 'Hai effettuato la disconnessione.',
      elsewhere: 'Hai disconnesso un browser da un altro browser.',
      login: 'Un nuovo accesso nello stesso browser ha sostituito la sessione.',
      password: 'La password è stata modificata.',
      administrator: 'Un amministratore ti ha disconnesso.',
      limit: 'C’erano troppe sessioni: la più vecchia è stata terminata.',
    },
  },
  formPost: {
    title: 'Continua verso l’applicazione',
    sentence: 'Se l’applicazione non si apre da sola, premi il pulsante.',
    submit: 'Continua',
  },
  logout: {
    title: 'Uscire?',
    asks: (client: string) => `${client} vuole disconnetterti.`,
    user: 'Hai effettuato l’accesso come',
    submit: 'Esci',
    stay: 'Resta connesso',
    doneTitle: 'Sei uscito',
    done: 'Non sei più connesso qui.',
    back: 'Torna all’applicazione',
  },
  userLinks: {
    reset_password: {
      title: 'Password dimenticata?',
      about:
        'Inserisci il tuo indirizzo email. Riceverai un link con cui potrai impostare una nuova password.',
      openTitle: 'Imposta una nuova password',
      submit: 'Imposta password',
      done: 'La tua password è stata cambiata. Accedi con la nuova password.',
    },
    sign_up: {
      title: 'Crea un account',
      about:
        'Inserisci il tuo indirizzo email. Riceverai un link con cui potrai creare il tuo account.',
      openTitle: 'Crea un account',
      submit: 'Crea account',
      done: 'Il tuo account è stato creato. Ora puoi accedere.',
    },
    verify_email: {
      openTitle: 'Conferma l’indirizzo email',
      submit: 'Conferma',
      done: 'Il tuo indirizzo email è confermato.',
      about: 'Non hai ancora confermato il tuo indirizzo email:',
    },
    request: 'Invia link',
    sent: (email) =>
      `Controlla la tua posta. Se l’indirizzo ${email} è corretto, riceverai un link valido per un’ora.`,
    toLogin: 'Torna all’accesso',
    tooMany: 'Sono stati richiesti troppi link. Riprova tra dieci minuti.',
  },
  password: {
    title: 'Cambia password',
    about:
      'Dopo la modifica resterai connesso solo in questo browser. Le applicazioni e i token personali mantengono il loro accesso.',
    current: 'Password attuale',
    next: 'Nuova password',
    hint: (min: number) => `Almeno ${min} caratteri.`,
    submit: 'Cambia password',
  },
  activity: {
    title: 'Attività recente',
    about:
      'Che cosa è successo con il tuo account. Se non riconosci qualcosa, cambia la password e revoca ciò che non conosci.',
    none: 'Ancora niente.',
    from: 'Da',
    browser: 'Browser o programma',
    somebodyElse: 'Un’altra persona, per esempio un amministratore',
    since: 'Dal giorno',
    until: 'Al giorno',
    changes: 'Modifiche',
    download: 'Scarica',
    atMost: (count: string) => `Al massimo ${count} eventi, i più recenti per primi.`,
    emptyValue: 'vuoto',
  },
  events: {
    'login.succeeded': 'Accesso',
    'login.failed': 'Un accesso è stato rifiutato',
    'session.ended': 'Disconnessione',
    'consent.given': 'Applicazione autorizzata ad agire',
    'consent.withdrawn': 'Tutti i permessi di un’applicazione ritirati',
    'token.issued': 'Un’applicazione ha ottenuto un token',
    'id_token.issued': 'Accesso a un’applicazione',
    'token.refreshed': 'Un’applicazione ha rinnovato il suo token',
    'token.revoked': 'Un token è stato revocato',
    'token.deleted': 'Token eliminato',
    'refresh_token.reused': 'Un vecchio token di aggiornamento è stato riutilizzato',
    'authorization_code.reused': 'Un codice è stato usato due volte',
    'device_code.reused': 'Un codice dispositivo è stato usato due volte',
    'personal_token.created': 'Token personale creato',
    'personal_token.edited': 'Token personale modificato',
    'personal_token.rotated': 'Nuovo valore per un token personale',
    'personal_token.deleted': 'Token personale eliminato',
    'personal_token.restored': 'Token personale ripristinato',
    'client.created': 'Applicazione registrata',
    'client.edited': 'Applicazione modificata',
    'client.deleted': 'Applicazione eliminata',
    'client.secret_reset': 'Nuovo client secret',
    'client.registration_token_leaked': 'Token di registrazione trapelato e reso non valido',
    'client.secret_leaked': 'Client secret trapelato e reso non valido',
    'client.id_reset': 'Nuovo ID client',
    'client.verified': 'Applicazione verificata',
    'client.unverified': 'Verifica ritirata',
    'client.logo_changed': 'Logo di un’applicazione scaricato',
    'client.disabled': 'Applicazione disattivata',
    'client.enabled': 'Applicazione attivata',
    'client.pinned': 'Documento di un’applicazione bloccato',
    'client.unpinned': 'Documento di un’applicazione sbloccato',
    'user.created': 'Utente creato',
    'user.activated': 'Utente attivato',
    'user.deactivated': 'Utente disattivato',
    'user.tokens_ended': 'Revocati tutti i token di un utente',
    'client.tokens_ended': 'Revocati tutti i token di un’applicazione',
    'user.admin_granted': 'Utente nominato amministratore',
    'user.admin_withdrawn': 'Un utente non è più amministratore',
    'user.password_changed': 'Password cambiata',
    'user.email_verified': 'Indirizzo email confermato',
    'user.email_changed': 'Indirizzo email modificato',
    'user.deleted': 'Utente eliminato',
    'user.vanished': 'Dati di un utente non più esistente eliminati',
    'users.missing': 'Molti utenti non trovati; nulla è stato eliminato',
    'secret_key.rotated': 'Chiave segreta del server cambiata',
    'signing_key.created': 'Nuova chiave di firma',
  },
  admin: {
    title: 'Amministrazione',
    mostRefused: 'Rifiutate più spesso',
    mostRefusedAbout:
      'Applicazioni le cui richieste sono state rifiutate più spesso negli ultimi sette giorni, con gli ultimi motivi. Chiunque conosca un ID client può causare una voce.',
    clients: 'Applicazioni',
    clientsAbout: 'Tutte le applicazioni registrate, da chiunque.',
    searchClients: 'Cerca applicazioni',
    searchClientsHint: 'Nome, ID client o proprietario',
    noClients: 'Nessuna applicazione trovata.',
    tokens: 'Token',
    tokensAbout: 'Tutti i token emessi, senza alcun modo di vederne il valore.',
    searchTokens: 'Cerca token',
    searchTokensHint: 'Indirizzo e-mail, ID client o numero del token',
    noTokens: 'Nessun token trovato.',
    search: 'Cerca',
    all: 'Mostra tutto',
    activityAbout: 'Tutto ciò che ha cambiato chi può fare che cosa, dal più recente.',
    event: 'Evento',
    allEvents: 'Tutti gli eventi',
    userHint: 'Indirizzo e-mail o ID',
    noEvents: 'Nessun evento trovato.',
    routine: 'Eventi ordinari delle ultime 24 ore',
    routineAbout:
      'Token che le applicazioni hanno richiesto per sé, scambiato o rinnovato. Vengono contati invece che elencati.',
    routineCount: 'Quantità',
    grantType: 'Tipo di concessione',
    token: 'Numero del token',
    request: 'ID della richiesta',
    actors: {
      client: 'Un’applicazione',
      command_line: 'La riga di comando',
      system: 'Il server',
      unknown: 'Sconosciuto',
    },
    at: 'Quando',
    actor: 'Da',
    owner: 'Proprietario',
    user: 'Utente',
    redirectUris: 'URI di reindirizzamento',
    personal: 'Token personale',
    issued: 'Emesso per un’applicazione',
    tokensOfClient: 'Token di questa applicazione',
    activityOfClient: 'Attività di questa applicazione',
    verify: 'Verifica',
    unverify: 'Ritira la verifica',
    logo: 'Logo',
    logoRequested: 'Il server sta scaricando il logo. Ricarica la pagina tra qualche secondo.',
    logoFailed: 'Non è stato possibile scaricare il logo:',
    fetchLogo: 'Scarica di nuovo il logo',
    disable: 'Disattiva',
    enable: 'Attiva',
    pin: 'Blocca il documento',
    unpin: 'Sblocca il documento',
    defaultResource: 'Risorsa predefinita',
    noDefaultResource: 'Impostazione del server',
    delete: 'Elimina',
    deleteNamed: (name: string) => `Elimina ${name}`,
    deleteAbout:
      'L’applicazione e tutti i suoi token spariscono subito. L’operazione non può essere annullata.',
    confirmName: (name: string) => `Per confermare, digita il suo nome: ${name}`,
  },
  users: {
    title: 'Utenti',
    about: 'Trova un utente, e vedi e termina le sue sessioni, i token e le applicazioni.',
    search: 'Cerca utenti',
    hint: 'Inizio dell’indirizzo email, o ID',
    exactHint: 'Indirizzo email completo o ID',
    notSearchable: 'La tua applicazione gestisce i suoi utenti e qui non offre alcuna ricerca.',
    none: 'Nessun utente trovato.',
    inactive: 'Disattivato',
    administrator: 'Amministratore',
    unverified: 'Indirizzo email non confermato',
    id: 'Identificativo',
    sessions: 'Sessioni',
    noSessions: 'Nessun accesso attivo.',
    hostSessions: 'La tua applicazione gestisce gli accessi: disconnetti l’utente lì.',
    tokens: 'Token personali',
    noTokens: 'Nessun token personale.',
    clients: 'Applicazioni registrate',
    noClients: 'Nessuna applicazione registrata.',
    authorized: 'Applicazioni autorizzate',
    noAuthorized: 'Nessuna applicazione autorizzata.',
    allActivity: 'Tutta l’attività di questo utente',
    deactivate: {
      label: 'Disattiva l’utente',
      about:
        'L’utente non può più accedere e tutti i suoi token e le sue applicazioni vengono rifiutati finché non viene riattivato.',
    },
    activate: {
      label: 'Attiva l’utente',
      about:
        'L’utente può accedere di nuovo e i suoi token e le sue applicazioni tornano a funzionare.',
    },
  },
  leaked: {
    title: 'Un segreto è trapelato',
    about:
      'Incolla un token, un client secret o un codice che altri possono aver visto. Vedrai che cos’è e deciderai che cosa farne.',
    aboutAdmin:
      'Incolla un token, un client secret o un codice che altri possono aver visto, di qualsiasi utente o applicazione. Vedrai che cos’è e deciderai che cosa farne.',
    paste: 'Il segreto trapelato',
    pasteHint:
      'Va bene anche un’intestazione, un intero comando curl o una riga di un log. Il testo non viene né salvato né mostrato di nuovo.',
    lookUp: 'Cerca il segreto',
    again: 'Cerca un altro segreto',
    stale: 'Il risultato non è più memorizzato. Incolla di nuovo il segreto.',
    tooMany: 'Sono stati incollati troppi segreti sconosciuti. Riprova tra un minuto.',
    kinds: {
      personal_token: 'Token personale',
      access_token: 'Token di accesso di',
      refresh_token: 'Token di aggiornamento di',
      client_secret: 'Client secret di',
      authorization_code: 'Codice di autorizzazione per',
      device_code: 'Codice del dispositivo per',
      session: 'Sessione di un browser',
      registration_token: 'Token di registrazione di',
      user_link: 'Link via email a',
    },
    ending: 'Termina con',
    valid: 'Funziona ancora',
    ended: 'Non funziona più',
    application: 'Applicazione',
    bound: 'Legato a una chiave',
    boundAbout: 'Sì: senza la chiave dell’applicazione è inutile.',
    history: 'Che cosa è successo',
    acts: {
      end: {
        label: 'Revoca questo segreto',
        about:
          'Smette subito di funzionare e i programmi che lo usano perdono l’accesso. L’operazione non può essere annullata.',
      },
      endSecret: {
        label: 'Revoca questo client secret',
        about:
          'L’applicazione non può più identificarsi finché il proprietario non crea un nuovo secret.',
      },
      endSession: {
        label: 'Disconnetti questo browser',
        about: 'Il browser con questa sessione viene disconnesso.',
      },
      endApplication: {
        label: 'Revoca tutti i token dell’applicazione',
        about:
          'L’applicazione perde l’accesso a tutti gli account e deve chiedere di nuovo a ogni utente. Il suo secret resta valido.',
      },
      revokeApplication: {
        label: 'Revoca l’applicazione',
        about:
          'L’applicazione perde l’accesso al tuo account su tutti i dispositivi e deve chiederti di nuovo.',
      },
      endUser: {
        label: 'Revoca tutti i token dell’utente',
        about:
          'Tutti i token personali dell’utente smettono di funzionare e tutte le applicazioni perdono l’accesso all’account. L’operazione non può essere annullata.',
      },
      endMine: {
        label: 'Revoca tutti i miei token',
        about:
          'Tutti i tuoi token personali smettono di funzionare e tutte le applicazioni perdono l’accesso al tuo account. L’operazione non può essere annullata.',
      },
      disable: {
        label: 'Disattiva l’applicazione',
        about:
          'L’applicazione e tutti i suoi token vengono rifiutati finché un amministratore non la riattiva.',
      },
      logOut: {
        label: 'Disconnetti l’utente ovunque',
        about: 'Tutti i browser dell’utente vengono disconnessi.',
      },
      logOutElsewhere: {
        label: 'Disconnetti tutti gli altri',
        about: 'Tutti i tuoi browser tranne questo vengono disconnessi.',
      },
    },
  },
  error: {
    title: 'Operazione non riuscita',
    known: {
      invalid_request: {
        what: 'L’applicazione ha inviato una richiesta inutilizzabile. Molto probabilmente è un errore dell’applicazione, non tuo.',
        advice:
          'Torna all’applicazione e riprova. Se succede di nuovo, comunica a chi la sviluppa quanto riportato qui sotto.',
      },
      unauthorized_client: {
        what: 'L’applicazione non è configurata per ciò che ha tentato di fare. È un errore dell’applicazione, non tuo.',
        advice: 'Comunica a chi la sviluppa quanto riportato qui sotto.',
      },
      unsupported_response_type: {
        what: 'L’applicazione ha chiesto qualcosa che questo server non offre. È un errore dell’applicazione, non tuo.',
        advice: 'Comunica a chi la sviluppa quanto riportato qui sotto.',
      },
      invalid_scope: {
        what: 'L’applicazione ha chiesto un’autorizzazione che non può ottenere. È un errore dell’applicazione, non tuo.',
        advice: 'Comunica a chi la sviluppa quanto riportato qui sotto.',
      },
      access_denied: {
        what: 'L’autorizzazione è stata rifiutata. Nessuno ha commesso un errore: l’applicazione non può fare nulla per tuo conto.',
        advice: 'Puoi chiudere questa pagina. Se cambi idea, ricomincia dall’applicazione.',
      },
      login_required: {
        what: 'L’applicazione voleva proseguire senza chiederti di accedere, e qui non hai effettuato l’accesso. Non è stato fatto nulla.',
        advice: 'Torna all’applicazione e ricomincia.',
      },
      server_error: {
        what: 'Qualcosa è andato storto da parte nostra. Non è un errore tuo né dell’applicazione.',
        advice: 'Torna all’applicazione e riprova tra qualche minuto.',
      },
      temporarily_unavailable: {
        what: 'Il servizio non è disponibile in questo momento. Non è un errore tuo né dell’applicazione.',
        advice: 'Torna all’applicazione e riprova tra qualche minuto.',
      },
    },
    expired: {
      what: 'La richiesta dell’applicazione è scaduta o è già stata usata. Non è stato modificato nulla.',
      advice: 'Torna all’applicazione e ricomincia da lì.',
    },
    unknown: {
      what: 'L’applicazione e questo server non sono riusciti a intendersi. Molto probabilmente è un errore dell’applicazione, non tuo.',
      advice:
        'Torna all’applicazione e riprova. Se succede di nuovo, comunica a chi la sviluppa quanto riportato qui sotto.',
    },
    again: 'Torna all’applicazione e riprova.',
    onlyYou: 'Solo il proprietario dell’applicazione e gli amministratori vedono questo.',
    disabled: 'Un amministratore ha disattivato l’applicazione.',
    refusedUri: 'URI di reindirizzamento della richiesta',
    registeredUris: 'URI di reindirizzamento registrati',
    noUri: 'Nessuno',
    differs: 'Che cosa differisce',
    openClient: 'Apri l’applicazione',
    parts: {
      scheme: 'Lo schema, come http o https',
      host: 'L’host',
      port: 'La porta',
      path: 'Il percorso',
      trailingSlash: 'La barra alla fine del percorso',
      letterCase: 'Maiuscole e minuscole',
      query: 'La query dopo ?',
      fragment: 'La parte dopo #',
      character: 'Un carattere non consentito negli indirizzi, mostrato come U+…',
    },
    code: 'Codice di errore',
    details: 'Dettagli',
    home: 'Vai alla pagina iniziale',
  },
  problem: {
    atWork:
      'Questo modulo è stato inviato due volte e lo stiamo ancora elaborando. Ricontrolla la pagina tra un momento.',
    staleLogout:
      'Questa pagina non è più aggiornata, quindi non sei uscito. Esci dalla pagina iniziale.',
    title: 'Operazione non riuscita',
    stale: 'Questa pagina non è più aggiornata. Decidi di nuovo.',
    foreign: 'Questo modulo non appartiene alla tua sessione. Non è stato fatto nulla.',
    loggedOut: 'La tua sessione è terminata. Torna all’applicazione e ricomincia.',
    decided:
      'Questa richiesta ha già ricevuto risposta o è scaduta. Torna all’applicazione e ricomincia.',
    askAgain: 'Mostra di nuovo la richiesta',
    clientChanged: 'L’applicazione è cambiata o non esiste più. Non è stato fatto nulla.',
    notFound: 'A questo indirizzo non c’è nulla.',
    notFoundTitle: 'Pagina non trovata',
    failed: 'Qualcosa è andato storto da parte nostra. Riprova più tardi.',
    unavailable: 'Il servizio non è disponibile in questo momento. Riprova tra poco.',
    wrongMethod: 'Questo indirizzo non può essere usato in questo modo. Torna indietro e riprova.',
    tooLarge: 'I dati inviati sono troppo grandi. Non è stato fatto nulla.',
    badRequest: 'I dati inviati sono illeggibili. Non è stato fatto nulla.',
    late: 'Questa pagina è rimasta aperta troppo a lungo. Non è stato modificato nulla. Mostra di nuovo la richiesta.',
    tooMany:
      'Ci sono state troppe richieste. Non è stato modificato nulla. Aspetta qualche minuto, poi riprova.',
    linkInvalid: 'Questo link non è più valido o è già stato usato. Richiedi un nuovo link.',
  },
  problems: {
    usersElsewhere: 'La tua applicazione gestisce i suoi utenti: disattiva questo utente lì.',
    looksLikeSecret:
      'Questo sembra un segreto. Una ricerca lo scriverebbe negli indirizzi e nei log.',
    ownAccount: 'Questo è il tuo account: solo un altro amministratore può disattivarlo.',
    credentialMissing: 'In questo testo non c’è alcun segreto. Incolla il valore intero.',
    credentialsTooMany: 'Il testo è troppo lungo. Incolla solo la riga con il segreto.',
    credentialUnknown:
      'Questo server non conosce alcun segreto di questo testo, oppure non funziona più.',
    credentialNotYours: 'In questo testo non c’è alcun tuo segreto, oppure non funziona più.',
    notRotatable:
      'Questo token ha un’autorizzazione che solo il servizio stesso concede, perciò qui non può ricevere un nuovo valore.',
    changedMeanwhile:
      'L’applicazione è cambiata da quando questa pagina è stata aperta. Controllala di nuovo.',
    nameMissing: 'Inserisci un nome.',
    nameTooLong: (limit: number) => `Il nome può avere al massimo ${limit} caratteri.`,
    emailInvalid: 'Questo non è un indirizzo email.',
    emailUnseen: 'L’indirizzo contiene un carattere invisibile. Digitalo invece di incollarlo.',
    emailLookAlike:
      'L’indirizzo contiene lettere che ne ricordano altre. Scrivilo con un solo alfabeto.',
    unseenCharacter: 'Il testo contiene un carattere invisibile. Digitalo invece di incollarlo.',
    tooManyMarks: 'Su una lettera ci sono troppi segni diacritici.',
    descriptionTooLong: (limit: number) =>
      `La descrizione può avere al massimo ${limit} caratteri.`,
    logoutUriInvalid:
      'Inserisci un indirizzo che inizi con https:// e abbia un nome di dominio completo, senza nome utente, porta né #. Oppure lascia il campo vuoto.',
    websiteInvalid: 'Inserisci un indirizzo che inizi con https:// o lascia il campo vuoto.',
    redirectUriTooLong: (limit: number) => `L’indirizzo ha più di ${limit} caratteri.`,
    redirectUriFragment: 'L’indirizzo non deve contenere un # né ciò che lo segue.',
    redirectUriResponseParameter:
      'L’indirizzo non deve contenere un parametro che la nostra risposta aggiunge, come code o state.',
    redirectUriCharacter: 'L’indirizzo contiene un carattere non ammesso.',
    redirectUriPrivateUse:
      'Un indirizzo con uno schema tuo può essere usato solo da applicazioni pubbliche, e solo se questo server lo permette.',
    redirectUriInvalid: 'Non è un indirizzo completo.',
    redirectUriNotHttps:
      'L’indirizzo deve iniziare con https://. Solo sul tuo computer può iniziare con http://localhost, http://127.0.0.1 o http://[::1].',
    tooManyClients: (limit: number) =>
      `Puoi registrare al massimo ${limit} applicazioni. Eliminane una che non ti serve più.`,
    tooManyPersonalTokens: (limit: number) =>
      `Puoi avere al massimo ${limit} token personali. Eliminane uno che non ti serve più.`,
    applicationTooLong:
      'I campi di questa applicazione sono troppo lunghi nel complesso. Accorcia la descrizione o rimuovi URI di reindirizzamento.',
    tooManyRedirectUris: (limit: number) =>
      `Puoi indicare al massimo ${limit} URI di reindirizzamento.`,
    scopeUnknown: (scope: string) =>
      `L’autorizzazione ${scope} non esiste o non può essere scelta.`,
    undoTooLate:
      'Non è più possibile annullare, oppure l’annullamento è già avvenuto in un’altra finestra.',
    draftLost:
      'Il testo del modulo precedente non è disponibile: viene conservato per 20 minuti per chi l’ha scritto e mostrato una volta.',
    expiredForGood:
      'Il token è scaduto, quindi la scadenza non può essere modificata. Crea un nuovo valore.',
    expiresInvalid: 'Inserisci una data, per esempio 2030-01-31.',
    expiresInPast: 'Scegli una data futura.',
    expiresTooLate: (day: string) => `La data è troppo lontana. Ultimo giorno possibile: ${day}.`,
    expiresMissing: (day: string) => `Scegli una data. Ultimo giorno possibile: ${day}.`,
    confirmName: 'Il nome non corrisponde. Non è stato eliminato nulla.',
    passwordWrong: 'La password attuale non è corretta.',
    passwordTooShort: (limit: number) => `La password deve avere almeno ${limit} caratteri.`,
    passwordTooLong: 'La password è troppo lunga.',
    overlapInvalid: 'Scegli una delle durate proposte.',
    other: 'Impossibile salvare. Controlla ciò che hai inserito.',
    stale:
      'Questa pagina non è più aggiornata, per esempio perché hai effettuato di nuovo l’accesso in un’altra finestra. Non è stato modificato nulla. Controlla ciò che hai inserito e invialo di nuovo.',
    loggedOut:
      'La sessione era terminata, quindi non è stato ancora salvato nulla. Controlla ciò che hai inserito e salvalo.',
    redirectUrisMissing:
      'Questo genere di applicazione richiede almeno un URI di reindirizzamento.',
    redirectUrisUnused:
      'Una macchina non ha un URI di reindirizzamento. Lascia vuoto il campo, o scegli un altro genere.',
  },
  done: {
    userDeactivated: (name: string) => `${name} è stato disattivato.`,
    userActivated: (name: string) => `${name} è stato attivato.`,
    credentialEnded: 'Il segreto non funziona più.',
    applicationTokensEnded: (name: string) => `Tutti i token di «${name}» sono stati revocati.`,
    ownTokensEnded: 'Tutti i tuoi token sono stati revocati.',
    userTokensEnded: (name: string) => `Tutti i token di ${name} sono stati revocati.`,
    loggedOut: (name: string) => `${name} è stato disconnesso ovunque.`,
    deviceRevoked: (name) => `${name}: accesso rimosso da quel dispositivo.`,
    clientCreated: 'L’applicazione è registrata.',
    clientSaved: 'Le modifiche sono state salvate.',
    clientDeleted: (name: string) => `L’applicazione «${name}» è stata eliminata.`,
    secretReset: 'L’applicazione ha un nuovo secret.',
    tokenCreated: 'Il token è stato creato.',
    tokenSaved: 'Le modifiche sono state salvate.',
    tokenRotated: 'Il token ha un nuovo valore.',
    tokenDeleted: (name: string) => `Il token «${name}» è stato eliminato.`,
    tokensDeleted: count({
      one: '# token è stato eliminato.',
      other: '# token sono stati eliminati.',
    }),
    tokensRestored: count({
      one: '# token è di nuovo valido.',
      other: '# token sono di nuovo validi.',
    }),
    formerEnded: 'Il valore precedente non è più valido.',
    tokenReduced: 'Il token ha solo le autorizzazioni che ha usato.',
    revokedSome: count({
      one: '# applicazione non può più agire per tuo conto.',
      other: '# applicazioni non possono più agire per tuo conto.',
    }),
    revoked: (name: string) => `«${name}» non può più agire per tuo conto.`,
    revokedAll: 'Nessuna applicazione può più agire per tuo conto.',
    sessionEnded: 'Il browser scelto è stato disconnesso.',
    linkSent: (email) => `È stato inviato un link a ${email}. È valido per un’ora.`,
    passwordChanged:
      'La tua password è stata cambiata. Tutti gli altri browser sono stati disconnessi.',
    otherSessionsEnded: 'Tutti gli altri browser sono stati disconnessi.',
    logoRequested: (name: string) => `Il logo di «${name}» è in fase di scaricamento.`,
    clientVerified: (name: string) => `L’applicazione «${name}» viene mostrata come verificata.`,
    clientUnverified: (name: string) =>
      `L’applicazione «${name}» non viene più mostrata come verificata.`,
    clientDisabled: (name: string) =>
      `L’applicazione «${name}» è stata disattivata: viene rifiutata insieme ai suoi token.`,
    clientEnabled: (name: string) => `L’applicazione «${name}» è di nuovo attiva.`,
    clientPinned: (name: string) =>
      `Il documento dell’applicazione «${name}» è bloccato e non viene più scaricato.`,
    clientUnpinned: (name: string) =>
      `Il documento dell’applicazione «${name}» è sbloccato e viene di nuovo scaricato.`,
    defaultResourceChanged: (name: string) =>
      `La risorsa predefinita dell’applicazione «${name}» è stata modificata.`,
  },
}
