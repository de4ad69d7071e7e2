;; Drives Emacs as a person would: waits for the findings, applies a quick fix where one stands, asks for a hover and for completion.
;; What was seen is written as JSON to the file that the environment names.
(require 'eglot)
(require 'json)

(defvar seen nil)
(defun note (key value) (push (cons key value) seen))

(defun wait-for (what condition)
  (let ((deadline (+ (float-time) 20)))
    (while (not (funcall condition))
      (when (> (float-time) deadline) (error "nothing came: %s" what))
      (accept-process-output nil 0.05))))

(defun go-to (text)
  (goto-char (point-min))
  (search-forward text)
  (goto-char (match-beginning 0)))

(defun drive ()
  (find-file "pod.yaml")
  (switch-to-buffer (current-buffer))
  ;; What waits for the first command: there is none in batch mode.
  (run-hooks 'post-command-hook)
  (wait-for "a server" (lambda () (eglot-managed-p)))
  (flymake-start)
  (wait-for "findings" (lambda () (flymake-diagnostics)))
  (note 'diagnostics
        (vconcat (mapcar (lambda (found)
                           `((line . ,(line-number-at-pos (flymake-diagnostic-beg found)))
                             (text . ,(flymake-diagnostic-text found))))
                         (flymake-diagnostics))))

  (go-to "nvidia.com/gpu:")
  ;; As after a key; after nothing at all, eglot would open a menu for the mouse.
  (setq last-nonmenu-event ?.)
  (let ((offered nil) (tick (buffer-modified-tick)))
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_prompt items &rest _) (setq offered (mapcar #'car items)) (car offered)))
              ((symbol-function 'y-or-n-p) (lambda (&rest _) t)))
      (eglot-code-actions (point) (point) "quickfix" t))
    (wait-for "an edit" (lambda () (> (buffer-modified-tick) tick)))
    (note 'offered (vconcat offered))
    (note 'text (buffer-string)))
  (save-buffer)
  (wait-for "the finding to go" (lambda () (null (flymake-diagnostics))))

  (go-to "nvidia.com/gpu:")
  (let (hover)
    (eglot-hover-eldoc-function (lambda (text &rest _) (setq hover (or text 'none))))
    (wait-for "a hover" (lambda () hover))
    (note 'hover (format "%s" hover)))

  (goto-char (point-max))
  (insert "          nvidia.com/mig")
  (let* ((found (eglot-completion-at-point))
         (table (nth 2 found)))
    (note 'completions (vconcat (mapcar #'substring-no-properties (all-completions "" table))))))

(condition-case reason (drive)
  (error (note 'failed (error-message-string reason))))
(with-temp-file (getenv "GPULINT_SEEN") (insert (json-encode seen)))
(set-buffer-modified-p nil)
(kill-emacs 0)
